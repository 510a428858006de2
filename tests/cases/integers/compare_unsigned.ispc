// Unsigned comparison of what would be negative.
//~ run: f(a=fill(i - 32)) out[i] == (u32(i - 32) > 1000)
export void f(uniform uint32 a[], uniform bool out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] > 1000;
}
