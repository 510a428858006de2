// The upper half of the unsigned range is not negative.
//~ run: f(a=fill(0xffffffffffffffff - i * 4096)) out[i] == f64(a[i])
export void f(uniform uint64 a[], uniform double out[]) {
    foreach (i = 0 ... 64) out[i] = a[i];
}
