// Only the outer lanes that are active have a turn.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i / 8 % 2 == 0 ? 1 : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 8) {
        if (i % 2 == 0) {
            foreach (j = 0 ... 8) out[i * 8 + j] += 1;
        }
    }
}
