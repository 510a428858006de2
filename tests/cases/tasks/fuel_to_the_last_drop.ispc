// Whether fuel suffices does not depend on how it is spread over threads: each task, its turns and its call count.
//~ fuel: 5100
//~ run: f(n=50, turns=100) result == 50
//~ run: f(n=50, turns=101)
//~   trap: out_of_fuel
task void one(uniform int turns, uniform int *uniform done) {
    uniform int k = 0;
    do { ++k; } while (k <= turns);
    atomic_add_global(done, 1);
}
export uniform int f(uniform int n, uniform int turns) {
    uniform int done = 0;
    launch[n] one(turns, &done);
    sync;
    return done;
}
