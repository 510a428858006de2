// In 8 bits the count is taken modulo 8.
//~ run: f(a=iota) out[i] == u8(i << i % 8)
export void f(uniform uint8 a[], uniform uint8 out[]) {
    foreach (i = 0 ... 64) {
        uint8 count = i;
        out[i] = a[i] << count;
    }
}
