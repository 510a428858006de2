// With no lane at all nothing happens.
//~ run: f(a=[5]) a[0] == 5
//~   mask: false
export void f(uniform int a[]) {
    a[0] = 6;
    a[programIndex + 1000] = 7;
    abort();
}
