// A whole struct gathered by a varying index.
//~ run: f(p=iota:64) out[i] == (63 - i) * 2
struct Point { int x; int y; };
export void f(uniform Point p[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        Point q = p[63 - i];
        out[i] = q.x + q.y;
    }
}
