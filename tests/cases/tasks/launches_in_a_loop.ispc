// Thousands of launches before one sync.
//~ run: f() result == 6000
task void count(uniform int *uniform at) { atomic_add_global(at, 1); }
export uniform int f() {
    uniform int n = 0;
    for (uniform int k = 0; k < 3000; ++k) launch[2] count(&n);
    sync;
    return n;
}
