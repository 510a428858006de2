// exp of infinities, NaN and what overflows.
//~ run: f(a=[inf, -inf, nan, 1000.0, -1000.0]) out[0] == inf; out[1] == 0.0; out[2] == nan; out[3] == inf; out[4] == 0.0
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 5) out[i] = exp(a[i]);
}
