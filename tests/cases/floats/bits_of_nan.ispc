// The bits of any NaN are those of the canonical one.
//~ run: f() a[0] == 0x7fc00000; a[1] == 0x7fc00000
export void f(uniform uint32 a[]) {
    uniform float odd = floatbits(0xffc00123u);
    a[0] = intbits(odd);
    uniform float zero = 0;
    a[1] = intbits(zero / zero);
}
