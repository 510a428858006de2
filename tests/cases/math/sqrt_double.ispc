// In double too.
//~ run: f(a=fill(i * 37.1)) out[i] == sqrt(a[i])
export void f(uniform double a[], uniform double out[]) {
    foreach (i = 0 ... 64) out[i] = sqrt(a[i]);
}
