// Four products of bytes at once.
//~ run: f(a=0x04030201, b=0xff010203, acc=1000) x[0] == 1000 + 1 * 3 + 2 * 2 + 3 * 1 + 4 * 255; x[1] == 1000 + 1 * 3 + 2 * 2 + 3 * 1 - 4
export void f(uniform uint32 a, uniform uint32 b, uniform int acc, uniform int x[]) {
    x[0] = (uniform int)dot4add_u8u8packed(a, b, (uniform uint32)acc);
    x[1] = dot4add_u8i8packed(a, b, acc);
}
