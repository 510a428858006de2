// Out of range, the nearest integer of the type; NaN gives 0.
//~ run: f(a=[1e10, -1e10, inf, -inf, nan, 2147483648.0, -2147483648.0, 3e9]) out[i] == i == 4 || i > 7 ? 0 : i % 2 == 0 && i != 6 || i > 6 || i == 5 ? 2147483647 : -2147483648
export void f(uniform float a[], uniform int out[]) {
    foreach (i = 0 ... 8) out[i] = (int)a[i];
}
