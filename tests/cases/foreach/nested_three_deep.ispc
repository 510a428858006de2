// Three levels.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i < 60 ? i : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 3) {
        foreach (j = 0 ... 4) {
            foreach (k = 0 ... 5) out[i * 20 + j * 5 + k] += i * 20 + j * 5 + k;
        }
    }
}
