// 64-bit arithmetic wraps too.
//~ run: f(a=rand:13, b=rand:14) out[i] == i64(a[i] * b[i] + a[i])
export void f(uniform int64 a[], uniform int64 b[], uniform int64 out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] * b[i] + a[i];
}
