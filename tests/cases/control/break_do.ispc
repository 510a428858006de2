// break in a do loop skips the test.
//~ run: f() out[i] == (i < 5 ? i : 5)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int k = 0;
        do {
            if (k == i) break;
            ++k;
        } while (k < 5);
        out[i] = k;
    }
}
