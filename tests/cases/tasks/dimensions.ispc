// Three counts; the first index varies fastest.
//~ run: f() out[i] == (i < 24 ? i : 0)
task void one(uniform int out[]) {
    out[taskIndex] = (taskIndex2 * taskCount1 + taskIndex1) * taskCount0 + taskIndex0;
}
export void f(uniform int out[]) { launch[2, 3, 4] one(out); }
