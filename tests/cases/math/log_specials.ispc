// log of zero, negatives, infinity and NaN.
//~ run: f(a=[0.0, -0.0, -1.0, inf, nan, -inf]) out[0] == -inf; out[1] == -inf; out[2] == nan; out[3] == inf; out[4] == nan; out[5] == nan
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 6) out[i] = log(a[i]);
}
