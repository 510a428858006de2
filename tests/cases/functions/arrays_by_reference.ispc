// Arrays are passed as pointers: the callee writes the caller's array.
//~ run: f() out[i] == (i < 5 ? i * i : 0)
static void squares(uniform int a[], uniform int n) {
    for (uniform int k = 0; k < n; ++k) a[k] = k * k;
}
export void f(uniform int out[]) {
    uniform int local[5];
    squares(local, 5);
    for (uniform int k = 0; k < 5; ++k) out[k] = local[k];
}
