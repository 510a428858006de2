// Backward.
//~ run: f(a=iota) out[i] == 63 - i
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[63 - i] = a[i];
}
