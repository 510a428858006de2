// `min` and `max` of 8-, 16- and 64-bit integers and doubles.
//~ run: f(a=fill(i - 32), b=fill(10)) p[i] == min(i - 32, 10); q[i] == max(i - 32, 10); r[i] == min(i - 32, 10); s[i] == max(i - 32.5, 10.0)
export void f(uniform int8 a[], uniform int8 b[], uniform int8 p[], uniform int16 q[], uniform int64 r[], uniform double s[]) {
    foreach (i = 0 ... 64) {
        p[i] = min(a[i], b[i]);
        int16 x = a[i], y = b[i];
        q[i] = max(x, y);
        int64 u = a[i], v = b[i];
        r[i] = min(u, v);
        double m = a[i] - 0.5d, n = b[i];
        s[i] = max(m, n);
    }
}
