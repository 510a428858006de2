// Widening an unsigned integer keeps its value.
//~ run: f(a=fill(255 - i)) b[i] == 255 - i; c[i] == 255 - i; d[i] == 255 - i
export void f(uniform uint8 a[], uniform int16 b[], uniform int32 c[], uniform uint64 d[]) {
    foreach (i = 0 ... 64) {
        b[i] = a[i];
        c[i] = a[i];
        d[i] = a[i];
    }
}
