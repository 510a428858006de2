// Rotation to the right.
//~ run: f(a=rand:62) x[i] == u64(a[i] >> i | a[i] << (64 - i) % 64)
export void f(uniform uint64 a[], uniform uint64 x[]) {
    foreach (i = 0 ... 64) x[i] = rotr(a[i], i);
}
