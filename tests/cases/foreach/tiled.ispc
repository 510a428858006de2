// Tiling changes the order only: every pair comes once.
//~ same-bits-at-every-width
//~ run: f(h=7, w=9) out[i] == (i < 63 ? i / 9 * 100 + i % 9 : 0)
export void f(uniform int h, uniform int w, uniform int out[]) {
    foreach_tiled (y = 0 ... h, x = 0 ... w) out[y * w + x] += y * 100 + x;
}
