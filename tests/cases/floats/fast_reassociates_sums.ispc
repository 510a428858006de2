// In the mode fast a chain of sums and differences is a tree, uniform operands are added first, and products last, one after another.
//~ fp: fast
//~ run: f(a=rand:31, b=rand:32, c=rand:33, d=rand:34, u=0.3, v=1000.1) tree[i] == f32(f32(a[i] + b[i]) + f32(c[i] - d[i])); fixed[i] == f32(a[i] + f32(f32(u) - f32(v))); fused[i] == f32(fma32(c[i], d[i], fma32(a[i], b[i], a[i])))
//~ also: behind[i] == f32(f32(a[i] - f32(b[i] - c[i])) + d[i]); minus[i] == f32(-f32(f32(a[i] + b[i]) + f32(c[i] + u)))
export void f(uniform float a[], uniform float b[], uniform float c[], uniform float d[], uniform float u, uniform float v,
              uniform float tree[], uniform float fixed[], uniform float fused[], uniform float behind[], uniform float minus[]) {
    foreach (i = 0 ... 64) {
        float x = a[i], y = b[i], z = c[i], w = d[i];
        tree[i] = x + y + z - w;
        fixed[i] = u + x - v;
        fused[i] = x * y + z * w + x;
        behind[i] = x - (y - z) + w;
        minus[i] = -x - y - z - u;
    }
}
