struct S { int x; };
export void f(float x, uniform float u) {
    print("% and %\n", x);
    print("no values\n", x);
    print("%d\n", x);
    S s;
    print("%\n", s);
    print(x);
}
