// An array of structs from outside: members lie next to one another.
//~ run: f(p=iota:32, n=32) p[i].x == i * 2; p[i].y == i + 1
struct Point { float x; int y; };
export void f(uniform Point p[], uniform int n) {
    foreach (i = 0 ... n) {
        p[i].x *= 2;
        p[i].y += 1;
    }
}
