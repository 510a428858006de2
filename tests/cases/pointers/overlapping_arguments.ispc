// Two arguments may be the same memory.
//~ run: f(a=iota:65, b=alias(a, 1):64) a[i] == (i == 0 ? 0 : 2 * (i - 1))
export void f(uniform int a[], uniform int b[]) {
    for (uniform int k = 63; k >= 0; --k) b[k] = 2 * a[k];
}
