// A structure of arrays: members of eight instances lie together.
//~ run: f() out[i] == (i < 32 ? i * 3 : 0)
struct P { int x, y; };
export void f(uniform int out[]) {
    soa<8> P p[4];
    foreach (i = 0 ... 32) {
        p[i].x = i;
        p[i].y = i * 2;
    }
    foreach (i = 0 ... 32) out[i] = p[i].x + p[i].y;
}
