// The suffix `d` makes a double.
//~ run: f() a[0] == 0.1; a[1] == 1234.0; a[2] == 0.1
export void f(uniform double a[]) {
    a[0] = 0.1d;
    a[1] = 1.234d+3;
    a[2] = 1e-1d;
}
