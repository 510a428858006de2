// The upper half of the unsigned range is not negative.
//~ run: f(a=fill(4294967295 - i * 256)) out[i] == f32(a[i])
export void f(uniform uint32 a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = a[i];
}
