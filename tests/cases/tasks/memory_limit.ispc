// The memory limit is one for all tasks.
//~ memory: 1000000
//~ run: f(n=20) result == 190
//~ run: f(n=100)
//~   trap: out_of_memory
task void hold(uniform int *uniform kept[]) {
    uniform int *uniform block = uniform new uniform int[5000];
    block[4999] = taskIndex;
    kept[taskIndex] = block;
}
export uniform int f(uniform int n) {
    uniform int *uniform kept[100];
    launch[n] hold(kept);
    sync;
    uniform int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        sum += kept[k][4999];
        delete[] kept[k];
    }
    return sum;
}
