// The called function launches tasks.
//~ run: f() out[i] == (i < 8 && i / 2 < W && i / 2 % 2 == 0 ? i / 2 * 10 + i % 2 : 0)
task void work(uniform int out[], uniform int row) { out[row * 2 + taskIndex] = row * 10 + taskIndex; }
static void both(uniform int out[], uniform int row) {
    launch[2] work(out, row);
    sync;
}
export void f(uniform int out[]) {
    if (programIndex < 4 && programIndex % 2 == 0) crev both(out, programIndex);
}
