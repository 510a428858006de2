// Inactive lanes do not store, wherever their index points.
//~ run: f(idx=fill(i % 2 == 0 ? 63 - i : -1000000 * i)) out[i] == (i % 2 == 1 ? 63 - i : 0)
export void f(uniform int idx[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (i % 2 == 0) out[idx[i]] = i;
    }
}
