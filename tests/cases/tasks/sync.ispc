// After sync all tasks are done.
//~ run: f() result == 45
task void one(uniform int t[]) { t[taskIndex] = taskIndex; }
export uniform int f() {
    uniform int t[10];
    launch[10] one(t);
    sync;
    uniform int sum = 0;
    for (uniform int k = 0; k < 10; ++k) sum += t[k];
    return sum;
}
