export void f(float x) {
    x(3);
    uniform int a[4];
    a(1);
}
