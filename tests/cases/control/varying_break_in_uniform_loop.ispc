// Lanes leave a loop with a uniform counter one after another; it ends when all have left.
//~ run: f() out[i] == (i < W ? i : 0)
export void f(uniform int out[]) {
    int n = 0;
    for (uniform int k = 0; k < 1000; ++k) {
        if (k == programIndex) break;
        ++n;
    }
    out[programIndex] = n;
}
