// The bits of float16 values and back.
//~ run: f(a=fill(i * 100)) out[i] == float16(i * 100); back[i] == i * 100
export void f(uniform uint16 a[], uniform float16 out[], uniform uint16 back[]) {
    foreach (i = 0 ... 64) {
        out[i] = float16bits(a[i]);
        back[i] = intbits(float16bits(a[i]));
    }
}
