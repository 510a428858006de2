// A re-vectorised call: for each active lane, with all lanes on.
//~ run: f() out[i] == (i < W && i % 2 == 0 ? W * i : 0)
static uniform int spread(uniform int x) { return reduce_add((varying int)x); }
export void f(uniform int out[]) {
    int x = programIndex;
    if (programIndex % 2 == 0) out[programIndex] = crev spread(x);
}
