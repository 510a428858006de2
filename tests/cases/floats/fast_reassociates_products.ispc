// In the mode fast a chain of products is a tree, and uniform factors are multiplied first; also in doubles, vectors, and as a part of sums.
//~ fp: fast
//~ run: f(a=rand:31, b=rand:32, c=rand:33, d=rand:34, u=0.3, v=1.1) tree[i] == f32(f32(a[i] * b[i]) * f32(c[i] * d[i])); fixed[i] == f32(a[i] * f32(f32(u) * f32(v))); sum[i] == f32(fma32(f32(a[i] * b[i]), f32(f32(u) * f32(v)), c[i]))
//~ also: doubles[i] == (a[i] * b[i]) * (c[i] * d[i]); vectors[i] == f32(f32(a[i] * b[i]) * f32(c[i] * d[i]))
export void f(uniform float a[], uniform float b[], uniform float c[], uniform float d[], uniform float u, uniform float v,
              uniform float tree[], uniform float fixed[], uniform float sum[], uniform double doubles[], uniform float vectors[]) {
    foreach (i = 0 ... 64) {
        float x = a[i], y = b[i], z = c[i], w = d[i];
        tree[i] = x * y * z * w;
        fixed[i] = u * x * v;
        sum[i] = u * x * v * y + z;
        doubles[i] = (double)x * y * z * w;
        float<2> p = { x, y }, q = { y, x }, r = { z, w }, s = { w, z };
        vectors[i] = (p * q * r * s).y;
    }
}
