// The double with given bits.
//~ run: f(a=fill(bits64(i * 0.1))) out[i] == i * 0.1
export void f(uniform uint64 a[], uniform double out[]) {
    foreach (i = 0 ... 64) out[i] = doublebits(a[i]);
}
