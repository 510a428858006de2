// The fast reciprocal is the exact one; that of a root is computed by multiplications, and nearly exact.
//~ run: f(a=fill(i + 1), b=fill(i + 1)) r[i] == f32(1.0 / (i + 1)); q[i] == 1.0 / (i + 1); near[i] == 1
//~ run: g(a=[0.0, -0.0, inf, -1.0, nan]) out[0] == inf; out[1] == -inf; out[2] == 0.0; out[3] == nan; out[4] == nan
export void f(uniform float a[], uniform double b[], uniform float r[], uniform double q[], uniform int near[]) {
    foreach (i = 0 ... 64) {
        r[i] = rcp_fast(a[i]);
        q[i] = rcp_fast(b[i]);
        double s = rsqrt_fast(a[i]), t = rsqrt_fast(b[i]), exact = 1 / sqrt(b[i]);
        near[i] = abs(s - exact) <= 0x1.1p-23d * s & abs(t - exact) <= 0x1.1p-52d * t ? 1 : 0;
    }
}

export void g(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 5) out[i] = rsqrt_fast(a[i]);
}
