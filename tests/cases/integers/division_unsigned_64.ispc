// 64-bit unsigned division.
//~ run: f(a=fill(0xffffffffffffffff - i)) out[i] == (0xffffffffffffffff - i) / 1000003
export void f(uniform uint64 a[], uniform uint64 out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] / 1000003;
}
