// The absolute value of the least integer wraps to itself.
//~ run: f(a=[-2147483648, -5, 5, 0]) out[i] == i == 0 ? -2147483648 : i < 3 ? 5 : 0
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 4) out[i] = abs(a[i]);
}
