export void f(uniform float a[], int n) {
    foreach (i = 0 ... n) { a[i] = 0; }
    foreach (i = 0 ... a) { }
    foreach_unique (v in 3) { }
}
