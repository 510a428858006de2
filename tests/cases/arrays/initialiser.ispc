// An initialiser gives the elements; the rest is zero.
//~ run: f() out[i] == (i == 0 ? 3 : i == 1 ? 5 : i == 2 ? 7 : 0)
export void f(uniform int out[]) {
    uniform int t[6] = { 3, 5, 7 };
    for (uniform int k = 0; k < 6; ++k) out[k] = t[k];
}
