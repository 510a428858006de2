// Arrays of vectors in counted loops: rows one after another, several at a time, and backwards; the index is a number as well.
//~ run: forwards(n=40, a=iota, out=zeros:64) out[i] == (i < 40 ? 2 * i + 64 : 0)
//~ run: backwards(n=33, a=iota, out=zeros:64) out[i] == (i < 33 ? 32 * i + 33 * 16 : 0)
//~ run: records(n=50, a=iota, out=zeros:64) out[i] == (i < 50 ? 50 * i + 50 * 49 : 0)
struct Pair {
    float first;
    int second;
    float third;
};

export void forwards(uniform int n, uniform int a[], uniform int out[]) {
    foreach (i = 0 ... n) {
        int rows[65];
        double wide[65];
        for (uniform int k = 0; k <= 64; ++k)
            rows[k] = a[i] + k;
        for (uniform int k = 0; k <= 64; ++k)
            wide[k] = k;
        // A row, and the one behind it.
        for (uniform int k = 0; k < 64; ++k)
            rows[k] = rows[k + 1] + rows[k] - k + (int)wide[k] - a[i] - k - 1;
        int sum = 0;
        for (uniform int k = 0; k < n; k += 4)
            sum += (rows[k] - k) * 4;
        out[i] = sum / n + rows[64];
    }
}

export void backwards(uniform int n, uniform int a[], uniform int out[]) {
    foreach (i = 0 ... n) {
        int rows[40];
        for (uniform int k = 39; k >= 0; --k)
            rows[k] = a[i] + k;
        int sum = 0;
        for (uniform int k = n - 1; k > 0; --k)
            sum += rows[k];
        out[i] = sum;
    }
}

export void records(uniform int n, uniform int a[], uniform int out[]) {
    foreach (i = 0 ... n) {
        Pair rows[64];
        for (uniform int k = 0; k < 64; ++k) {
            rows[k].first = k;
            rows[k].second = a[i];
            rows[k].third = k + 0.25f;
        }
        float sum = 0;
        for (uniform int k = 0; k < n; ++k)
            sum += rows[k].first + rows[k].second + floor(rows[k].third);
        out[i] = (int)sum;
    }
}
