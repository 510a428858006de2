// No increment of many tasks is lost.
//~ run: f(out=zeros:4) out[0] == 100000; out[1] == 200000; out[2] == 99; out[3] == 100000
uniform int64 wide;
task void count(uniform int counts[]) {
    for (uniform int k = 0; k < 1000; ++k) atomic_add_global(&counts[0], 1);
    for (uniform int k = 0; k < 1000; ++k) atomic_add_global(&wide, (uniform int64)2);
    atomic_max_global(&counts[2], taskIndex);
    for (uniform int k = 0; k < 1000; ++k) {
        uniform int seen = counts[3];
        uniform int was = atomic_compare_exchange_global(&counts[3], seen, seen + 1);
        while (was != seen) {
            seen = was;
            was = atomic_compare_exchange_global(&counts[3], seen, seen + 1);
        }
    }
}
export void f(uniform int out[]) {
    wide = 0;
    launch[100] count(out);
    sync;
    out[1] = (uniform int)wide;
}
