// `sync` waits for the tasks of its own function; again launched ones need another.
//~ run: f() result == 30
task void add(uniform int *uniform at, uniform int what) { atomic_add_global(at, what); }
export uniform int f() {
    uniform int total = 0;
    uniform int early = 0;
    launch[10] add(&total, 1);
    sync;
    early = total;
    launch[5] add(&total, 2);
    sync;
    sync;
    return early + total;
}
