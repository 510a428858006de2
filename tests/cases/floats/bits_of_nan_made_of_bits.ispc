// Bits that have been a float meanwhile are not those from before, if that was a NaN.
//~ run: f() a[0] == 0; a[1] == 0x7fc00000; a[2] == 2; a[31] == 0x7fc00000
export void f(uniform uint32 a[]) {
    for (uniform int round = 0; round < 4; round++) {
        foreach (i = 0 ... 32) {
            uint32 bits = (i & 1) != 0 ? 0xffc00000u + i : i;
            a[i] = intbits(floatbits(bits));
        }
    }
}
