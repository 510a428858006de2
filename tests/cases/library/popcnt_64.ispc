// Set bits of 64-bit integers.
//~ run: f(a=rand:63) out[i] == popcount(a[i])
export void f(uniform uint64 a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = popcnt(a[i]);
}
