// Filling bytes.
//~ run: f(a=iota) a[i] == (i < 3 ? 0x01010101 : i)
export void f(uniform int a[]) { memset(a, 1, 12); }
