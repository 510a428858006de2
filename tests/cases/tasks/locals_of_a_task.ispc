// A pointer to a local variable of a task that has ended.
//~ run: f()
//~   trap: bad_pointer message=in `f`
task void leak(uniform int *uniform *uniform where) {
    uniform int local[4] = {1, 2, 3, 4};
    local[taskIndex] = 5;
    *where = local;
}
export uniform int f() {
    uniform int *uniform p = NULL;
    launch leak(&p);
    sync;
    return p[0];
}
