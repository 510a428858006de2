// In an `everywhere` block all lanes call.
//~ run: f() out[i] == (i < W ? i * W : 0)
static uniform int spread(uniform int x) { return reduce_add((varying int)x); }
export void f(uniform int out[]) {
    if (programIndex == 0) {
        everywhere { out[programIndex] = crev spread(programIndex); }
    }
}
