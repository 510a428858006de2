// Conversion to 8 and 16 bits saturates too; it does not go through 32 bits and wrap.
//~ run: f(a=fill((i - 32) * 1000.5)) b[i] == i8((i - 32) * 1000.5); c[i] == i16((i - 32) * 1000.5); d[i] == u8((i - 32) * 1000.5)
export void f(uniform double a[], uniform int8 b[], uniform int16 c[], uniform uint8 d[]) {
    foreach (i = 0 ... 64) {
        b[i] = (int8)a[i];
        c[i] = (int16)a[i];
        d[i] = (uint8)a[i];
    }
}
