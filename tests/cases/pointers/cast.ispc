// A cast of a pointer reads the same bytes otherwise (little-endian).
//~ run: f(a=[0x04030201, 0x08070605]) out[i] == (i < 8 ? i + 1 : 0)
export void f(uniform int a[], uniform uint8 out[]) {
    uniform uint8 * uniform bytes = (uniform uint8 * uniform)a;
    for (uniform int k = 0; k < 8; ++k) out[k] = bytes[k];
}
