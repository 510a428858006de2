// The called function's `foreach` has all lanes, under a condition in the caller's `foreach`.
//~ run: f(n=8) out[i] == (i / 8 % 2 == 0 ? i + 1 : 0)
static void fill(uniform int out[], uniform int row) {
    foreach (j = 0 ... 8) out[row * 8 + j] = row * 8 + j + 1;
}
export void f(uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) {
        if (i % 2 == 0) crev fill(out, i);
    }
}
//~ run: g(n=9) sum[i] == (i < 9 ? i * W : 0)
static uniform int spread(uniform int x) { return reduce_add((varying int)x); }
export void g(uniform int n, uniform int sum[]) {
    foreach_tiled (i = 0 ... 3, j = 0 ... n / 3) sum[i * 3 + j] = crev spread(i * 3 + j);
}
