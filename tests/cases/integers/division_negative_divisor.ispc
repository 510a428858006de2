// A negative divisor.
//~ run: f(a=fill(i - 32)) q[i] == (i - 32) / -7; r[i] == (i - 32) % -7
export void f(uniform int a[], uniform int q[], uniform int r[]) {
    foreach (i = 0 ... 64) {
        q[i] = a[i] / -7;
        r[i] = a[i] % -7;
    }
}
