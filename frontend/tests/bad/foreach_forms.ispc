void f(uniform float a[], uniform int n) {
    foreach (int i = 0 ... n) { }
    foreach (i = 0; i < n; i++) { }
    foreach (i = 0 .. n) { }
    foreach (i in 0 ... n) { }
    foreach (i = 0 ... n j = 0 ... n) { }
    for (i = 0 ... n) { }
    foreach_unique (i = a[programIndex]) { }
    foreach_active (uniform int i) { }
    a[0] = 0;
}
