// The called function writes with all lanes.
//~ run: f() out[i] == (i < 8 ? (i / 2 < W ? 1 : 0) : 0)
static void fill_two(uniform int out[], uniform int row) {
    foreach (i = 0 ... 2) out[row * 2 + i] += 1;
}
export void f(uniform int out[]) {
    int row = programIndex;
    if (programIndex < 4) crev fill_two(out, row);
}
