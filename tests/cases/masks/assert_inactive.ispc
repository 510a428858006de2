// An assertion looks at active lanes only.
//~ run: f() out[i] == (i < W)
export void f(uniform int out[]) {
    if (programIndex > 0) assert(programIndex > 0);
    out[programIndex] = 1;
}
