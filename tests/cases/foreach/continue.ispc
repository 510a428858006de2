// continue ends the turn of its lanes only.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i % 3 == 0 ? 0 : i)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (i % 3 == 0) continue;
        out[i] = i;
    }
}
