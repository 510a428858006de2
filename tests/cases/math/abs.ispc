// Absolute values clear the sign.
//~ run: f(a=fill(i - 32.5)) out[i] == abs(a[i])
//~ run: g(a=[-0.0, -inf, nan, 3.0]) out[0] == 0.0; out[1] == inf; out[2] == nan; out[3] == 3.0
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = abs(a[i]);
}
export void g(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 4) out[i] = abs(a[i]);
}
