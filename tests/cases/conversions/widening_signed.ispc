// Widening a signed integer keeps its value.
//~ run: f(a=fill(i * 4 - 128)) b[i] == i * 4 - 128; c[i] == i * 4 - 128; d[i] == i * 4 - 128
export void f(uniform int8 a[], uniform int16 b[], uniform int32 c[], uniform int64 d[]) {
    foreach (i = 0 ... 64) {
        b[i] = a[i];
        c[i] = a[i];
        d[i] = a[i];
    }
}
