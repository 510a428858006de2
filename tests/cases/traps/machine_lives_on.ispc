// After a trap the next call works as if nothing had been.
//~ run: f(a=iota:4, k=9)
//~   trap: out_of_bounds
//~ run: f(a=iota:4, k=3) result == 3
export uniform int f(uniform int a[], uniform int k) {
    uniform int r = 0;
    if (programIndex == 0) {
        foreach (i = 0 ... 3) r += a[k] * 0;
        r = a[k];
    }
    return r;
}
