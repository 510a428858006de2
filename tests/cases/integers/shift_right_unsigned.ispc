// An unsigned shift to the right brings in zeros.
//~ run: f(a=fill(i - 32)) out[i] == u32(i - 32) >> 2
export void f(uniform uint32 a[], uniform uint32 out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] >> 2;
}
