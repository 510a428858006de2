// An array inside the structure.
//~ run: f() out[i] == (i < 16 ? i + 2 * 100 : 0)
struct P { int t[3]; };
export void f(uniform int out[]) {
    soa<8> P p[2];
    foreach (i = 0 ... 16) {
        for (uniform int k = 0; k < 3; ++k) p[i].t[k] = i + k * 100;
    }
    foreach (i = 0 ... 16) out[i] = p[i].t[2];
}
