// A struct within.
//~ run: f() out[i] == (i < 16 ? i * 11 : 0)
struct V { int x, y; };
struct P { V v; int z; };
export void f(uniform int out[]) {
    soa<8> P p[2];
    foreach (i = 0 ... 16) {
        p[i].v.x = i;
        p[i].v.y = i * 10;
    }
    foreach (i = 0 ... 16) out[i] = p[i].v.x + p[i].v.y + p[i].z;
}
