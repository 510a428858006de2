// pow as C's Annex F defines it, with negative bases.
//~ run: f(a=[-2.0, nan, 1.0, 0.0, -8.0, -0.0], b=[3.0, 0.0, nan, -1.0, 0.5, -3.0]) out[0] == -8.0; out[1] == 1.0; out[2] == 1.0; out[3] == inf; out[4] == nan; out[5] == -inf
export void f(uniform float a[], uniform float b[], uniform float out[]) {
    foreach (i = 0 ... 6) out[i] = pow(a[i], b[i]);
}
