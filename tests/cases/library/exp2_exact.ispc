// Whole powers of two are exact.
//~ run: f(a=fill(i * 4 - 128)) out[i] == pow2(i * 4 - 128)
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = exp2(a[i]);
}
