// A block that runs exactly once.
//~ run: f() out[i] == (i < W)
export void f(uniform int out[]) {
    do {
        out[programIndex] = 1;
    } while (false);
}
