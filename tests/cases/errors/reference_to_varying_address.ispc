export void f(uniform int a[]) {
    uniform int &r = a[programIndex]; //~ error: E0229
    r = 1;
}
