// Of negative numbers NaN; zeros keep their sign.
//~ run: f(a=[-1.0, -0.0, inf, nan]) out[0] == nan; out[1] == -0.0; out[2] == inf; out[3] == nan
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 4) out[i] = sqrt(a[i]);
}
