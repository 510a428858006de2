// Conflicting updates of one element, one lane at a time.
//~ same-bits-at-every-width
//~ run: f(a=fill(i % 5)) out[i] == (i < 4 ? 13 : i == 4 ? 12 : 0)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        int bin = a[i];
        foreach_active (lane) { out[bin] += 1; }
    }
}
