// In the mode fast a division by a uniform value is a product with its reciprocal, in halves and doubles, too.
//~ fp: fast
//~ run: f(a=rand:25, u=7.0, b=rand:26, v=7.0) out[i] == f32(a[i] * f32(1.0 / 7.0)); doubles[i] == b[i] * (1.0 / 7.0)
export void f(uniform float a[], uniform float u, uniform double b[], uniform double v, uniform float out[], uniform double doubles[]) {
    foreach (i = 0 ... 64) {
        out[i] = a[i] / u;
        doubles[i] = b[i];
        doubles[i] /= v;
    }
}
