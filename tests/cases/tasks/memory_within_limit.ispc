// What tasks free can be allocated again: together they allocate far more than the limit.
//~ memory: 2000000
//~ run: f() result == 400
task void work(uniform int *uniform sum) {
    for (uniform int k = 0; k < 10; ++k) {
        uniform int *uniform block = uniform new uniform int[10000];
        block[9999] = 1;
        atomic_add_global(sum, block[9999]);
        delete[] block;
    }
}
export uniform int f() {
    uniform int sum = 0;
    launch[40] work(&sum);
    sync;
    return sum;
}
