// `a*b - c` and `c - a*b` are fused as well.
//~ fp: contract
//~ run: f(a=rand:25, b=rand:26, c=rand:27) p[i] == fma32(a[i], b[i], -c[i]); q[i] == fma32(-a[i], b[i], c[i])
export void f(uniform float a[], uniform float b[], uniform float c[], uniform float p[], uniform float q[]) {
    foreach (i = 0 ... 64) {
        p[i] = a[i] * b[i] - c[i];
        q[i] = c[i] - a[i] * b[i];
    }
}
