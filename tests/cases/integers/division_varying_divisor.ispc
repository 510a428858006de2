// Each lane divides by its own divisor.
//~ run: f(a=rand:17, b=fill(i % 2 == 0 ? i + 1 : -i)) q[i] == a[i] / b[i]; r[i] == a[i] % b[i]
export void f(uniform int a[], uniform int b[], uniform int q[], uniform int r[]) {
    foreach (i = 0 ... 64) {
        q[i] = a[i] / b[i];
        r[i] = a[i] % b[i];
    }
}
