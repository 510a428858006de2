// In a task, each with its own context.
//~ widths: 1,2,4,8,16
//~ run: f() out[i] == (i < 3 * W && i % W % 2 == 0 ? (i / W + 1) * W : 0)
static uniform int spread(uniform int x) { return reduce_add((varying int)x); }
task void work(uniform int out[]) {
    if (programIndex % 2 == 0) {
        int r = crev spread(taskIndex + 1);
        out[taskIndex * programCount + programIndex] = r;
    }
}
export void f(uniform int out[]) {
    launch[3] work(out);
    sync;
}
