// `intbits` of a double has 64 bits.
//~ run: f(a=rand:32) out[i] == bits64(a[i])
export void f(uniform double a[], uniform uint64 out[]) {
    foreach (i = 0 ... 64) out[i] = intbits(a[i]);
}
