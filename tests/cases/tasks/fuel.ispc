// Fuel is one budget for all tasks of a call.
//~ fuel: 20000
//~ run: f(n=18, turns=1000) result == 18
//~ run: f(n=21, turns=1000)
//~   trap: out_of_fuel
//~ run: f(n=100, turns=190) result == 100
//~ run: f(n=3, turns=1000000000)
//~   trap: out_of_fuel
task void one(uniform int turns, uniform int *uniform done) {
    for (uniform int k = 0; k < turns; ++k) {}
    atomic_add_global(done, 1);
}
export uniform int f(uniform int n, uniform int turns) {
    uniform int done = 0;
    launch[n] one(turns, &done);
    sync;
    return done;
}
