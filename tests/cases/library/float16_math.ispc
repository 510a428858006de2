// float16 functions compute in float and round once more.
//~ run: f(a=fill(i * 0.37)) out[i] == f16(sqrt(f16(i * 0.37))); fl[i] == floor(f16(i * 0.37))
export void f(uniform float16 a[], uniform float16 out[], uniform float16 fl[]) {
    foreach (i = 0 ... 64) {
        out[i] = sqrt(a[i]);
        fl[i] = floor(a[i]);
    }
}
