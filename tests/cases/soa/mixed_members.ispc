// Members of different sizes.
//~ run: f() out[i] == (i < 32 ? i + i % 2 * 1000 + i * 2 : 0)
struct P { int8 a; double b; int16 c; };
export void f(uniform int out[]) {
    soa<4> P p[8];
    foreach (i = 0 ... 32) {
        p[i].a = i;
        p[i].b = i * 2;
        p[i].c = i % 2 * 1000;
    }
    foreach (i = 0 ... 32) out[i] = (int)p[i].a + (int)p[i].b + (int)p[i].c;
}
