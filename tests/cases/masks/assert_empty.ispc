// Under an empty mask an assertion does nothing, a uniform one neither.
//~ run: f() out[i] == (i < W)
export void f(uniform int out[]) {
    if (programIndex < 0) {
        assert(false);
        assert(programIndex < 0);
    }
    out[programIndex] = 1;
}
