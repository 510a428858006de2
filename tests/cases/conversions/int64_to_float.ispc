// 64-bit integers become floats in one rounding.
//~ run: f(a=rand:9) out[i] == f32(a[i])
export void f(uniform int64 a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = (float)a[i];
}
