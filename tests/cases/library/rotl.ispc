// Rotation to the left, the count modulo the size.
//~ run: f(a=rand:60, b=rand:61) x[i] == u32(a[i] << i % 32 | a[i] >> (32 - i % 32) % 32); y[i] == u8(b[i] << i % 8 | b[i] >> (8 - i % 8) % 8)
export void f(uniform uint32 a[], uniform uint8 b[], uniform uint32 x[], uniform uint8 y[]) {
    foreach (i = 0 ... 64) {
        x[i] = rotl(a[i], i);
        y[i] = rotl(b[i], i);
    }
}
