// Rows of different lengths gather from arrays of several element sizes by one index, and by what is found there. Some rows are
// empty, and their index is far outside of all arrays.
//~ run: f(a=iota:32) out[i] == (i % 5 == 0 ? 0 : 3 * ((2 * (i % 7) + i * 3 % 11 - 1) * (i * 3 % 11) / 2) + 31 * (i * 3 % 11))
uniform int8 small[32];
uniform double wide[40];
uniform unsigned int other[32];

export void f(uniform int a[], uniform int out[]) {
    for (uniform int k = 0; k < 32; ++k) {
        small[k] = k;
        wide[k + 8] = 2 * k;
        other[k] = 31 - k;
    }
    uniform double *uniform eighth = wide + 8;
    uniform int *uniform third = a + 3;
    foreach (i = 0 ... 64) {
        int first = i % 5 == 0 ? 1 << 30 : i % 7;
        int length = i % 5 == 0 ? 0 : i * 3 % 11;
        int sum = 0;
        for (int k = first; k < first + length; ++k)
            sum += third[k - 3] + small[k] + (int)eighth[k] + a[other[k]];
        out[i] = sum;
    }
}
