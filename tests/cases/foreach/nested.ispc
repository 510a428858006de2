// A foreach inside a foreach: once per outer index, with all lanes on.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i < 56 ? i / 8 * 10 + i % 8 : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 7) {
        foreach (j = 0 ... 8) out[i * 8 + j] += i * 10 + j;
    }
}
