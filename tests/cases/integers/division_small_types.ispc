// 8-bit division.
//~ run: f(a=fill(i * 4 - 128), b=fill(-3)) out[i] == i8((i * 4 - 128) / -3)
export void f(uniform int8 a[], uniform int8 b[], uniform int8 out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] / b[i];
}
