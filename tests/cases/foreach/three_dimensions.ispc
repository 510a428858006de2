// Three dimensions, none of which starts at zero.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i < 60 ? 1 : 0)
export void f(uniform int out[]) {
    foreach (z = 2 ... 5, y = 1 ... 5, x = -3 ... 2)
        out[(z - 2) * 20 + (y - 1) * 5 + (x + 3)] += 1;
}
