// A small matrix product by nested loops.
//~ same-bits-at-every-width
//~ run: f(a=iota:12, b=fill(i + 1):20) out[i] == (i < 15 ? sum(k, 0, 4, (i / 5 * 4 + k) * (k * 5 + i % 5 + 1)) : 0)
export void f(uniform int a[], uniform int b[], uniform int out[]) {
    foreach (y = 0 ... 3, x = 0 ... 5) {
        int sum = 0;
        for (uniform int k = 0; k < 4; ++k) sum += a[y * 4 + k] * b[k * 5 + x];
        out[y * 5 + x] = sum;
    }
}
