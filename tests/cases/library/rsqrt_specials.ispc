// The reciprocal square root of zeros, infinity, negatives and powers of four.
//~ run: f(a=[0.0, -0.0, inf, -1.0, 4.0, 0.0625]) out[0] == inf; out[1] == -inf; out[2] == 0.0; out[3] == nan; out[4] == 0.5; out[5] == 4.0
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 6) out[i] = rsqrt(a[i]);
}
