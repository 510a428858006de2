// A break in the inner loop ends it for that outer index only.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i % 8 < i / 8)
export void f(uniform int out[]) {
    foreach (i = 0 ... 8) {
        foreach (j = 0 ... 8) {
            if (j >= i) break;
            out[i * 8 + j] += 1;
        }
    }
}
