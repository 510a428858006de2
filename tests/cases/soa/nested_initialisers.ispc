// Arrays, short vectors and structs inside the structure.
//~ run: f() a[i] == (i < 2 ? 10 * (i + 1) : i < 4 ? i + 1 : 0); v[i] == (i < 2 ? 5 + i : i < 4 ? 5 + i : i < 6 ? 9 : 0)
//~ also: n[i] == (i < 2 ? i + 11 : 0)
struct Inner { int k; };
struct P { int t[2]; int<3> w; Inner inner; };
export void f(uniform int a[], uniform int v[], uniform int n[]) {
    soa<2> P p = { { { 10, 20 }, { 3, 4 } }, { { 5, 6 }, { 7, 8 }, 9 }, { { 11, 12 } } };
    soa<2> P * uniform at = &p;
    foreach (i = 0 ... 2) {
        for (uniform int k = 0; k < 2; ++k) a[2 * k + i] = at[i].t[k];
        for (uniform int k = 0; k < 3; ++k) v[2 * k + i] = at[i].w[k];
        n[i] = at[i].inner.k;
    }
}
