// Narrowing an integer keeps its low bits.
//~ run: f(a=rand:3) b[i] == i8(a[i]); c[i] == u16(a[i]); d[i] == i32(a[i])
export void f(uniform int64 a[], uniform int8 b[], uniform uint16 c[], uniform int32 d[]) {
    foreach (i = 0 ... 64) {
        b[i] = (int8)a[i];
        c[i] = (uint16)a[i];
        d[i] = (int32)a[i];
    }
}
