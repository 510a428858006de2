// A uniform value assigned to an outer variable goes to the outer lane.
//~ same-bits-at-every-width
//~ run: f(a=iota) out[i] == (i < 8 ? sum(k, 0, 8, i * 8 + k) : 0)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 8) {
        int sum = 0;
        foreach (j = 0 ... 8) sum += reduce_add(a[i * 8 + j]);
        out[i] = sum;
    }
}
