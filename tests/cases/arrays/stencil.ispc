// Reading neighbours.
//~ run: f(a=fill(i * i)) out[i] == (i == 0 || i == 63 ? 0 : 2)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 1 ... 63) out[i] = a[i - 1] - 2 * a[i] + a[i + 1];
}
