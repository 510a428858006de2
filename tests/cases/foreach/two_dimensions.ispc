// The last dimension runs over lanes; every pair of indices comes once.
//~ same-bits-at-every-width
//~ run: f(h=5, w=11) out[i] == (i < 55 ? i / 11 * 100 + i % 11 : 0)
export void f(uniform int h, uniform int w, uniform int out[]) {
    foreach (y = 0 ... h, x = 0 ... w) out[y * w + x] += y * 100 + x;
}
