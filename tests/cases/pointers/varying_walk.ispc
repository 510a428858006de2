// Lanes walk different distances.
//~ run: f(a=iota) out[i] == (i + 7) / 8 * 8 % 64
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        uniform int * varying p = &a[i];
        while (*p % 8 != 0) {
            if (*p == 63) p = a;
            else ++p;
        }
        out[i] = *p;
    }
}
