// 64-bit integers from doubles.
//~ run: f(a=[9e18, 1e19, -1e19, nan, 123456789012345.75, -0.9]) out[i] == i == 0 ? 9000000000000000000 : i == 1 ? 0x7fffffffffffffff : i == 2 ? -0x8000000000000000 : i == 4 ? 123456789012345 : 0
export void f(uniform double a[], uniform int64 out[]) {
    foreach (i = 0 ... 6) out[i] = (int64)a[i];
}
