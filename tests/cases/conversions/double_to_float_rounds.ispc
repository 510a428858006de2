// Rounding to nearest even; what is too large becomes infinite.
//~ run: f(a=rand:4) out[i] == f32(a[i])
//~ run: f(a=[1e300, -1e300, 1e-60, 3.4028235e38]:4, n=4) out[i] == i == 0 ? inf : i == 1 ? -inf : i == 3 ? f32(3.4028235e38) : 0.0
export void f(uniform double a[], uniform float out[], uniform int n = 64) {
    foreach (i = 0 ... n) out[i] = (float)a[i];
}
