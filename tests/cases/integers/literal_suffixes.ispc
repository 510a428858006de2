// Unsigned and 64-bit literals.
//~ run: f() a[0] == 3221225472; a[1] == 10737418240; a[2] == 0xffffffffffffffff; a[3] == 4294967295
export void f(uniform uint64 a[]) {
    a[0] = 3Gu;
    a[1] = 10Gll;
    a[2] = 0xffffffffffffffffull;
    a[3] = 4294967295u;
}
