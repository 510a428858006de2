// foreach inside a uniform loop.
//~ run: f() out[i] == 1 + 2 + 3
export void f(uniform int out[]) {
    for (uniform int k = 1; k <= 3; ++k) {
        foreach (i = 0 ... 64) out[i] += k;
    }
}
