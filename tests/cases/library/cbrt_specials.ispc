// Cube roots of negatives, zeros and infinities.
//~ run: f(a=[-inf, -0.0, inf, nan]) out[0] == -inf; out[1] == -0.0; out[2] == inf; out[3] == nan
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 4) out[i] = cbrt(a[i]);
}
