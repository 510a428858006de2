// Number of set bits.
//~ run: f(a=rand:20) out[i] == popcount(u32(a[i]))
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = popcnt(a[i]);
}
