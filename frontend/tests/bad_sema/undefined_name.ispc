export void f(uniform float a[], uniform int width) {
    foreach (i = 0 ... widht) { a[i] = sqr(a[i]); }
}
