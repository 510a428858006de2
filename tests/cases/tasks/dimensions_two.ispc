// Two counts: indices and counts of each dimension, and over all.
//~ run: f() out[i] == (i < 15 ? 100000 + 1000 * (i / 5) + 100 * (i % 5) + 53 : 0)
task void one(uniform int out[], uniform int mark) {
    if (taskIndex != taskIndex1 * taskCount0 + taskIndex0 || taskCount != 15 || taskIndex2 != 0) return;
    out[taskIndex] = mark + 1000 * taskIndex1 + 100 * taskIndex0 + 10 * taskCount0 + taskCount1;
    if (taskIndex == 3) assert(taskCount2 == 1);
}
export void f(uniform int out[]) {
    launch[5, 3] one(out, 100000);
}
