// Lanes beyond the end do not touch memory: the array is exactly as long as the range.
//~ run: f(a=iota:37, n=37) a[i] == i * 2
export void f(uniform int a[], uniform int n) {
    foreach (i = 0 ... n) a[i] = a[i] * 2;
}
