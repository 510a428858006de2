// Overlapping copies.
//~ run: f(a=iota) a[i] == (i == 0 || i > 20 ? i : i - 1)
export void f(uniform int a[]) { memmove(a + 1, a, 20 * sizeof(uniform int)); }
