// `abs` of every signed type.
//~ run: f(a=fill(i - 32)) p[i] == abs(i - 32); q[i] == abs(i - 32); r[i] == abs(i - 32); s[i] == abs(i - 32.5)
export void f(uniform int8 a[], uniform int8 p[], uniform int16 q[], uniform int64 r[], uniform double s[]) {
    foreach (i = 0 ... 64) {
        p[i] = abs(a[i]);
        q[i] = abs((int16)a[i]);
        r[i] = abs((int64)a[i]);
        s[i] = abs(a[i] - 0.5d);
    }
}
