// Scaling by powers of two, gradual underflow included.
//~ run: f(a=fill(1.5)) out[i] == f32(1.5 * pow2(i * 4 - 150))
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = ldexp(a[i], i * 4 - 150);
}
