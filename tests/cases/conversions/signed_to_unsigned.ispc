// The same bits, read otherwise.
//~ run: f(a=fill(i - 32)) out[i] == u32(i - 32)
export void f(uniform int a[], uniform uint32 out[]) {
    foreach (i = 0 ... 64) out[i] = (uint32)a[i];
}
