// And load likewise.
//~ same-bits-at-every-width
//~ run: f(a=fill(i + 500)) result == 16; out[i] == (i % 4 == 1 ? 500 + i / 4 : 0)
export uniform int f(uniform int a[], uniform int out[]) {
    uniform int n = 0;
    foreach (i = 0 ... 64) {
        if (i % 4 == 1) {
            int v;
            n += packed_load_active(&a[n], &v);
            out[i] = v;
        }
    }
    return n;
}
