// Indices of 64 bits and unsigned ones.
//~ run: f(a=iota) out[i] == i + (63 - i)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        int64 k = i;
        uint8 small = 63 - i;
        out[i] = a[k] + a[small];
    }
}
