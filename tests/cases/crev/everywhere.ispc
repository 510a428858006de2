// `everywhere` is another name for `unmasked`: all lanes on, and back to those of before.
//~ run: f() out[i] == (i < W ? 1 + (i == 0 ? 10 : 0) : 0)
export void f(uniform int out[]) {
    if (programIndex == 0) {
        everywhere {
            out[programIndex] += 1;
        }
        out[programIndex] += 10;
    }
}
//~ run: g() out[i] == (i < W && i % 2 == 1 ? W : 0)
static uniform int lanes() { return reduce_add((varying int)1); }
export void g(uniform int out[]) {
    if (programIndex % 2 == 1) {
        uniform int n;
        everywhere { n = lanes(); }
        out[programIndex] = n;
    }
}
