// A barrier between data and flag.
//~ run: f() result == 0
task void write(uniform int cells[]) {
    for (uniform int k = 1; k <= 1000; ++k) {
        cells[0] = k;
        memory_barrier();
        atomic_swap_global(&cells[16], k);
    }
}
task void check(uniform int cells[]) {
    for (uniform int k = 0; k < 1000; ++k) {
        const uniform int flag = atomic_add_global(&cells[16], 0);
        memory_barrier();
        if (cells[0] < flag) atomic_add_global(&cells[20], 1);
    }
}
export uniform int f() {
    uniform int cells[32];
    for (uniform int k = 0; k < 32; ++k) cells[k] = 0;
    launch write(cells);
    launch[3] check(cells);
    sync;
    return cells[20];
}
