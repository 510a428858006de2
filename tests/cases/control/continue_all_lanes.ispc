// A continue that every active lane executes skips the rest of the body.
//~ run: f() out[i] == (i < W ? 5 : 0)
export void f(uniform int out[]) {
    int n = 0;
    for (int k = 0; k < 5; ++k) {
        ++n;
        if (programIndex >= 0) continue;
        n += 100;
    }
    out[programIndex] = n;
}
