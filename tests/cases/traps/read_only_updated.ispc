// What a loop reads and writes is as much to write as to read, or nothing: then the first round reads, and fails where it writes.
//~ run: f(a=readonly iota, n=32, m=1) a[i] == i
//~   trap: read_only
//~ run: g(a=iota, n=32) a[i] == (i < 32 ? 2 * i + 1 : i)
//~ run: g(a=iota, n=0) a[i] == i
//~ run: h(a=readonly iota, n=40) a[i] == i
//~   trap: read_only
export void f(const uniform int a[], uniform int n, uniform int m) {
    uniform int * uniform p = (uniform int * uniform)a;
    uniform int sum = 0;
    for (uniform int i = 0; i < n; ++i) {
        sum += p[i];
        if (sum >= m)
            p[i] = sum;
    }
}
export void g(uniform int a[], uniform int n) {
    uniform int last = 1;
    for (uniform int i = 0; i < n; ++i) {
        uniform int own = a[i];
        a[i] += own + last;
        last = a[i] - 2 * own;
    }
}
export void h(const uniform int a[], uniform int n) {
    uniform int * uniform p = (uniform int * uniform)a;
    foreach (i = 0 ... n)
        p[i] += p[i] + 1;
}
