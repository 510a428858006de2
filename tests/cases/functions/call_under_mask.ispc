// A callee's effects are those of the active lanes.
//~ run: f() out[i] == (i < W && i % 3 == 1)
static void mark(uniform int out[]) { out[programIndex] = 1; }
export void f(uniform int out[]) {
    if (programIndex % 3 == 1) mark(out);
}
