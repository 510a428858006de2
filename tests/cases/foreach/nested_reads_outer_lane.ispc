// Outer varying variables are one value inside: that of the outer lane.
//~ same-bits-at-every-width
//~ run: f(a=fill(i * i):8) out[i] == i / 8 * (i / 8) + i % 8
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 8) {
        int base = a[i];
        foreach (j = 0 ... 8) {
            uniform int same = base;
            out[i * 8 + j] = same + j;
        }
    }
}
