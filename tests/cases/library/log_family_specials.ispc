// log2, log10 and log1p at zero, below and at infinity.
//~ run: f(a=[0.0, -2.0, inf, nan]) p[0] == -inf; p[1] == nan; p[2] == inf; p[3] == nan; q[0] == -inf; q[1] == nan; q[2] == inf; r[0] == 0.0; r[1] == nan; r[2] == inf
export void f(uniform float a[], uniform float p[], uniform float q[], uniform float r[]) {
    foreach (i = 0 ... 4) {
        p[i] = log2(a[i]);
        q[i] = log10(a[i]);
        r[i] = log1p(a[i]);
    }
}
