// Rows of a local array that are shorter than vectors: a vector over the last one ends beyond the array, its active lanes do not.
//~ run: f(n=20, a=iota:6) out[i] == (i < 20 ? 2 * (1 + 3 + 5 + 3 * i) : 0)
//~ run: last(n=20) result == 20 * (9 + 10 + 11)
export void f(uniform int n, uniform int a[], uniform int out[]) {
    for (uniform int k = 0; k < n; ++k) {
        uniform int rows[64 * 3 * programCount];
        for (uniform int row = 0; row < 64 * programCount; ++row) {
            foreach (column = 0 ... 3)
                rows[row * 3 + column] = a[2 * column + 1] + k;
        }
        uniform int sum = 0;
        for (uniform int row = 64 * programCount - 2; row < 64 * programCount; ++row) {
            foreach (column = 0 ... 3)
                sum += reduce_add(rows[row * 3 + column]);
        }
        out[k] = sum;
    }
}
export uniform int last(uniform int n) {
    uniform int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        uniform int rows[4 * 3 * programCount];
        for (uniform int i = 0; i < 4 * 3 * programCount; ++i)
            rows[i] = i - 4 * 3 * programCount + 12;
        foreach (column = 0 ... 3)
            sum += reduce_add(rows[(4 * programCount - 1) * 3 + column]);
    }
    return sum;
}
