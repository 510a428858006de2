// `intbits` and `floatbits` copy bits.
//~ run: f(a=rand:31) out[i] == bits32(a[i]); back[i] == a[i]
export void f(uniform float a[], uniform uint32 out[], uniform float back[]) {
    foreach (i = 0 ... 64) {
        out[i] = intbits(a[i]);
        back[i] = floatbits(intbits(a[i]));
    }
}
