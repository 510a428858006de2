// expm1 keeps the sign of zero and goes to −1.
//~ run: f(a=[0.0, -0.0, -inf, inf, nan]) out[0] == 0.0; out[1] == -0.0; out[2] == -1.0; out[3] == inf; out[4] == nan
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 5) out[i] = expm1(a[i]);
}
