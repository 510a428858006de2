// Inactive lanes hold wild indices; they are not looked at.
//~ run: f(a=iota, idx=fill(i % 2 == 0 ? 63 - i : 1000000 * i)) out[i] == (i % 2 == 0 ? 63 - i : 0)
export void f(uniform int a[], uniform int idx[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (i % 2 == 0) out[i] = a[idx[i]];
    }
}
