// The fast reciprocals are the exact ones: no engine approximates.
//~ run: f(a=fill(i + 1), b=fill(i + 1)) r[i] == f32(1.0 / (i + 1)); q[i] == 1.0 / (i + 1); s[i] == f32(1 / f32(sqrt(f32(i + 1)))); t[i] == 1 / sqrt(i + 1)
export void f(uniform float a[], uniform double b[], uniform float r[], uniform double q[], uniform float s[], uniform double t[]) {
    foreach (i = 0 ... 64) {
        r[i] = rcp_fast(a[i]);
        q[i] = rcp_fast(b[i]);
        s[i] = rsqrt_fast(a[i]);
        t[i] = rsqrt_fast(b[i]);
    }
}
