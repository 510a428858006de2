// Narrowing to float16 rounds to nearest even; widening is exact.
//~ run: f(a=rand:6) out[i] == f16(a[i])
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) {
        float16 h = (float16)a[i];
        out[i] = h;
    }
}
