// Lanes that break wait until the others are done.
//~ run: f() out[i] == min(i, 20)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int k;
        for (k = 0; k < 20; ++k) {
            if (k == i) break;
        }
        out[i] = k;
    }
}
