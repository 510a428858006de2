// Hexadecimal floats are exact.
//~ run: f() a[0] == 2.0; a[1] == -4095.0; a[2] == 0.15625
export void f(uniform float a[]) {
    a[0] = 0x1p+1;
    a[1] = -0x1.ffep+11;
    a[2] = 0x1.4p-3;
}
