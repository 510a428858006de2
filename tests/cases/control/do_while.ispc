// The body of do runs once before the first test.
//~ run: f() out[i] == max(i, 1)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        do {
            ++n;
        } while (n < i);
        out[i] = n;
    }
}
