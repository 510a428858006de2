// The one quotient that does not fit wraps; its remainder is 0.
//~ run: f(a=fill(-2147483648), b=fill(-1)) q[i] == -2147483648; r[i] == 0
export void f(uniform int a[], uniform int b[], uniform int q[], uniform int r[]) {
    foreach (i = 0 ... 64) {
        q[i] = a[i] / b[i];
        r[i] = a[i] % b[i];
    }
}
