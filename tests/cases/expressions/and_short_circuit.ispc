// The right side of `&&` is evaluated only in lanes where the left side holds: the array has only 20 elements.
//~ run: f(a=iota:20, n=20) out[i] == (i < 20 && i > 4)
export void f(uniform int a[], uniform int n, uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (i < n && a[i] > 4)
            out[i] = 1;
    }
}
