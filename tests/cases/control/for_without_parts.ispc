// All three parts of for may be missing.
//~ run: f() out[i] == i + 1
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int k = 0;
        for (;;) {
            if (k > i) break;
            ++k;
        }
        out[i] = k;
    }
}
