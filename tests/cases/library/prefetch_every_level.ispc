// Every hint takes any address, also one that could not be loaded from.
//~ run: f(a=iota:8) a[i] == i
export void f(uniform int a[]) {
    prefetch_l1(a);
    prefetch_l2(a + 1000);
    prefetch_l3(a);
    prefetch_nt(a + 1000);
    prefetchw_l1(a);
    prefetchw_l2(a + 1000);
    prefetchw_l3(a);
}
