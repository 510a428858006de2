// Expressions of constants give what they would give at run time.
//~ run: f() a[i] == 7 / 2 * 3 - -7 % 3 + (1 << 4); b[i] == f32(f32(1.0 / 3.0) * 3.0)
export void f(uniform int a[], uniform float b[]) {
    foreach (i = 0 ... 64) {
        a[i] = 7 / 2 * 3 - -7 % 3 + (1 << 4);
        b[i] = 1.0 / 3.0 * 3.0;
    }
}
