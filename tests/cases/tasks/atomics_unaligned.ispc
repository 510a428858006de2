// An element that is not aligned can be counted in too.
//~ run: f() result == 20000
task void count(uniform int8 *uniform bytes) {
    uniform int *uniform cell = (uniform int *uniform)(bytes + 3);
    for (uniform int k = 0; k < 1000; ++k) atomic_add_global(cell, 1);
}
export uniform int f() {
    uniform int8 bytes[16];
    for (uniform int i = 0; i < 16; ++i) bytes[i] = 0;
    launch[20] count(bytes);
    sync;
    return *(uniform int *uniform)(bytes + 3);
}
