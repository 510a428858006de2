// A copy or fill that does not fit does nothing, whichever of its ranges it is, and however often others fitted.
//~ run: to(a=iota:20, n=5) a[i] == (i >= 4 && i < 20 ? i % 4 : i)
//~   trap: out_of_bounds
export void to(uniform int a[], uniform int n) {
    for (uniform int i = 0; i < n; ++i) memcpy(&a[4 * (i + 1)], &a[4 * i], 16);
}
//~ run: from(a=iota:20, out=zeros:40, n=5) out[i] == (i < 16 ? a[i + 4] : 0)
//~   trap: out_of_bounds
export void from(uniform int a[], uniform int out[], uniform int n) {
    for (uniform int i = 0; i < n; ++i) memcpy(&out[4 * i], &a[4 * (i + 1)], 16);
}
//~ run: before(a=iota:20, n=-6) a[i] == (i < 4 ? 0x02020202 : i)
//~   trap: out_of_bounds
export void before(uniform int a[], uniform int n) {
    for (uniform int i = 1; i > n; --i) memset(&a[2 * i], 2, 8);
}
//~ run: fixed(a=readonly iota:20, n=5) a[i] == i
//~   trap: read_only
export void fixed(const uniform int a[], uniform int n) {
    uniform int * uniform p = (uniform int * uniform)a;
    for (uniform int i = 0; i < n; ++i) memcpy(&p[4], &a[0], 16);
}
//~ run: inner(n=6, out=zeros:1) out[i] == 3
//~   trap: out_of_bounds
export void inner(uniform int n, uniform int out[]) {
    uniform int8 row[40], copy[40];
    for (uniform int i = 0; i < 40; ++i) row[i] = 3;
    for (uniform int i = 0; i < n; ++i) {
        memcpy(&copy[8 * i], &row[8], 16);
        out[0] = copy[8 * i + 15];
        if (i == 2) { uniform int8 * uniform p = row; memcpy(out, p + 100000, 4); }
    }
}
