// Euclid's algorithm in every lane, with as many steps as the lane needs.
//~ same-bits-at-every-width
//~ run: f(a=fill(i * 6 + 6), b=fill(i * i * 2 + 2)) out[0] == 2; out[1] == 4; out[2] == 2; out[5] == 4; out[7] == 4
export void f(uniform int a[], uniform int b[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        int x = a[i], y = b[i];
        while (y != 0) {
            int t = x % y;
            x = y;
            y = t;
        }
        out[i] = x;
    }
}
