export void f(uniform int a[]) {
    uniform int * uniform p = &a[programIndex]; //~ error: E0203
    *p = 1;
}
