// The inner bounds may depend on the outer index.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i % 8 <= i / 8 ? 1 : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 8) {
        foreach (j = 0 ... i + 1) out[i * 8 + j] += 1;
    }
}
