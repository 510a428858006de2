float g(float x) { return x; }
export void f(uniform int a) {
    a + 1 = 3;
    g(1) = 2;
    5++;
    g = 3;
}
