// But for the mode fast, sums and products are computed from left to right.
//~ run: f(a=rand:31, b=rand:32, c=rand:33, d=rand:34) sum[i] == f32(f32(f32(a[i] + b[i]) + c[i]) + d[i]); product[i] == f32(f32(f32(a[i] * b[i]) * c[i]) * d[i]); quotient[i] == f32(a[i] / f32(sqrt(f32(b[i] * b[i]))))
export void f(uniform float a[], uniform float b[], uniform float c[], uniform float d[], uniform float sum[],
              uniform float product[], uniform float quotient[]) {
    foreach (i = 0 ... 64) {
        sum[i] = a[i] + b[i] + c[i] + d[i];
        product[i] = a[i] * b[i] * c[i] * d[i];
        quotient[i] = a[i] / sqrt(b[i] * b[i]);
    }
}
