// Hints have no effect.
//~ run: f(a=iota) a[i] == i
export void f(uniform float a[]) {
    prefetch_l1(a);
    prefetch_nt(a);
}
