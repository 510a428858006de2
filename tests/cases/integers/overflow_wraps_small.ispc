// 8- and 16-bit arithmetic wraps in its own type.
//~ run: f(a=rand:15, b=rand:16) p[i] == i8(a[i] * b[i]); q[i] == u16(u16(a[i]) * u16(a[i]))
export void f(uniform int8 a[], uniform int8 b[], uniform int8 p[], uniform uint16 q[]) {
    foreach (i = 0 ... 64) {
        p[i] = a[i] * b[i];
        uint16 x = a[i];
        q[i] = x * x;
    }
}
