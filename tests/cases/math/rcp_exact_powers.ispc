// Reciprocals of powers of two are exact.
//~ run: f(a=fill(pow2(i - 32))) out[i] == pow2(32 - i)
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = rcp(a[i]);
}
