// Negative floats become 0 in an unsigned type, large ones its greatest value.
//~ run: f(a=[-1.0, -0.5, 3.99, 5e9, inf, nan, -inf, 4294967040.0]) out[i] == i == 2 ? 3 : i == 3 || i == 4 ? 4294967295 : i == 7 ? 4294967040 : 0
export void f(uniform float a[], uniform uint32 out[]) {
    foreach (i = 0 ... 8) out[i] = (uint32)a[i];
}
