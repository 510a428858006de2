// Unsigned division sees large numbers, not negative ones.
//~ run: f(a=fill(4294967295 - i)) out[i] == (4294967295 - i) / 10 + (4294967295 - i) % 10
export void f(uniform uint32 a[], uniform uint32 out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] / 10 + a[i] % 10;
}
