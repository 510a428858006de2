// Active lanes store next to one another; the result is their number.
//~ same-bits-at-every-width
//~ run: f(a=iota) result == 22; out[i] == (i < 22 ? i * 3 : 0)
export uniform int f(uniform int a[], uniform int out[]) {
    uniform int n = 0;
    foreach (i = 0 ... 64) {
        if (a[i] % 3 == 0) n += packed_store_active(&out[n], a[i]);
    }
    return n;
}
