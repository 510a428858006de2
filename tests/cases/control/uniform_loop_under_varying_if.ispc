// A uniform loop inside a divergent branch runs for the lanes of that branch.
//~ run: f() out[i] == (i % 2 == 0 ? 5 : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        if (i % 2 == 0) {
            for (uniform int k = 0; k < 5; ++k) n += 1;
        }
        out[i] = n;
    }
}
