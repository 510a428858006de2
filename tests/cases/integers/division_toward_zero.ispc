// Quotients are truncated; the remainder has the dividend's sign.
//~ run: f(a=fill(i - 32)) q[i] == (i - 32) / 5; r[i] == (i - 32) % 5
export void f(uniform int a[], uniform int q[], uniform int r[]) {
    foreach (i = 0 ... 64) {
        q[i] = a[i] / 5;
        r[i] = a[i] % 5;
    }
}
