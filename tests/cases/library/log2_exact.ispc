// Logarithms of powers of two are exact.
//~ run: f(a=fill(pow2(i * 4 - 128))) out[i] == i * 4 - 128
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = log2(a[i]);
}
