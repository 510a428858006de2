// Many small tasks, some of which launch more.
//~ run: f() result == 20000 + 100 * 50
task void count(uniform int *uniform at) { atomic_add_global(at, 1); }
task void one(uniform int *uniform at) {
    atomic_add_global(at, 1);
    if (taskIndex % 200 == 0) launch[50] count(at);
}
export uniform int f() {
    uniform int n = 0;
    launch[20000] one(&n);
    sync;
    return n;
}
