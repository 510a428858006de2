// A pointer that is null at first may still lead to a variable.
//~ run: f(a=[0, 1, 2, 3, 4], n=5) result == 15; out[i] == (i < W ? 15 : 0)
export uniform int f(uniform int a[], uniform int n, uniform int out[]) {
    int total = 0;
    varying int * uniform p;
    if (n > 3)
        p = &total;
    uniform int last = 0;
    for (uniform int k = 0; k < n; ++k) {
        *p += a[k] + 1;
        last = extract(total, 0);
    }
    out[programIndex] = total;
    return last;
}
