// And scattered.
//~ run: f(p=zeros:64) p[i].x == 63 - i; p[i].y == (63 - i) * 10
struct Point { int x; int y; };
export void f(uniform Point p[]) {
    foreach (i = 0 ... 64) {
        Point q = { i, i * 10 };
        p[63 - i] = q;
    }
}
