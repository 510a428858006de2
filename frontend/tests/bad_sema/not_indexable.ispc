struct S { int x; };
export void f(float x, uniform float a[]) {
    x[2] = 1;
    S s;
    a[s] = 1;
}
