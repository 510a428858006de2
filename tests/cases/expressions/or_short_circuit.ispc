// The right side of `||` is evaluated only in lanes where the left side does not hold.
//~ run: f(a=iota:20, n=20) out[i] == (i >= 20 || i < 3)
export void f(uniform int a[], uniform int n, uniform int out[]) {
    foreach (i = 0 ... 64)
        out[i] = (i >= n || a[i] < 3) ? 1 : 0;
}
