// What compiled code knows of a constant table ends with it.
//~ run: f(a=fill(1):64, n=4) a[i] == 11
//~   trap: out_of_bounds
static const uniform int table[4] = { 1, 2, 3, 4 };
export void f(uniform int a[], uniform int n) {
    foreach (i = 0 ... 64)
        for (uniform int k = 0; k < n; ++k) a[i] += table[k];
    for (uniform int k = 0; k < 5; ++k) a[k] = table[k] - k + 10;
}
