// The fast conversions give the same bits as the others.
//~ run: f(a=rand:69) bits[i] == bits16(a[i]); back[i] == f16(a[i])
export void f(uniform float a[], uniform uint16 bits[], uniform float back[]) {
    foreach (i = 0 ... 64) {
        bits[i] = (uint16)float_to_half_fast(a[i]);
        back[i] = half_to_float_fast(bits[i]);
    }
}
