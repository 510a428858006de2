// What is loaded by a pointer is loaded once, if what is stored meanwhile lies in a local array that no pointer leads to; and again, if one
// does.
//~ run: tiles(a=iota, n=64, out=zeros) out[i] == (i < 24 ? n * (i % 8) * (i / 8 + 1) : 0)
export void tiles(const uniform int a[], uniform int n, uniform int out[]) {
    uniform int tile[24];
    foreach (i = 0 ... 24)
        tile[i] = 0;
    for (uniform int k = 0; k < n; ++k) {
        for (uniform int row = 0; row < 3; ++row) {
            foreach (column = 0 ... 8)
                tile[row * 8 + column] += a[column] * (row + 1);
        }
    }
    foreach (i = 0 ... 24)
        out[i] = tile[i];
}

static inline void add_rows(uniform int to[], const uniform int from[], uniform int rows) {
    for (uniform int row = 0; row < rows; ++row) {
        foreach (column = 0 ... 4)
            to[row * 4 + column] += from[column];
    }
}

// The rows that are added lie in the array itself: the first row doubles before it is added to the others.
//~ run: within(a=iota, n=64, out=zeros) out[i] == (i >= 12 ? 0 : i % 4 == 0 ? 0 : (i % 4) * (i < 4 ? 16 : 31))
export void within(const uniform int a[], uniform int n, uniform int out[]) {
    for (uniform int again = 0; again < n; ++again) {
        uniform int rows[12];
        foreach (i = 0 ... 4)
            rows[i] = a[i];
        foreach (i = 4 ... 12)
            rows[i] = a[i % 4];
        for (uniform int k = 0; k < 4; ++k)
            add_rows(rows, rows, 3);
        foreach (i = 0 ... 12)
            out[i] = rows[i];
    }
}

// A pointer that is now the one, now the other.
//~ run: either(a=iota, n=63, out=zeros) out[i] == (i >= 8 ? 0 : i < 4 ? 1024 * i : 2099 * (i % 4))
export void either(const uniform int a[], uniform int n, uniform int out[]) {
    uniform int rows[8];
    foreach (i = 0 ... 4) {
        rows[i] = a[i];
        rows[4 + i] = 0;
    }
    for (uniform int k = 0; k < n; ++k) {
        const uniform int *uniform from = k < 10 ? &rows[0] : a;
        foreach (i = 0 ... 4)
            rows[i] += k < 10 ? from[i] : 0;
        foreach (i = 0 ... 4)
            rows[4 + i] += from[i];
    }
    foreach (i = 0 ... 8)
        out[i] = rows[i];
}
