// `fmod` is exact and has the dividend's sign.
//~ run: f(a=rand:33) out[i] == f32(a[i] % 0.75)
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = fmod(a[i], 0.75);
}
