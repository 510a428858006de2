// One task without a count.
//~ run: f() out[i] == (i == 0 ? 1 : 0)
task void one(uniform int out[]) { out[taskIndex] += taskCount; }
export void f(uniform int out[]) {
    launch one(out);
    sync;
}
