// In a `foreach`, the last iterations of which do not fill the gang.
//~ run: f(n=21) out[i] == (i < 21 ? i * W : 0)
static uniform int spread(uniform int x) { return reduce_add((varying int)x); }
export void f(uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) out[i] = crev spread(i);
}
