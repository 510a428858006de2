// The thread's number is below the number of threads.
//~ run: f() result == 0
task void one(uniform int *uniform wrong) {
    if (threadIndex < 0 || threadIndex >= threadCount || threadCount != num_cores()) atomic_add_global(wrong, 1); //~ warning: W0216
}
export uniform int f() {
    uniform int wrong = 0;
    launch[30] one(&wrong);
    sync;
    return wrong;
}
