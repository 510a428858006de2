// Three tiled dimensions with odd sizes.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i < 60)
export void f(uniform int out[]) {
    foreach_tiled (z = 0 ... 3, y = 0 ... 5, x = 0 ... 4) out[z * 20 + y * 4 + x] += 1;
}
