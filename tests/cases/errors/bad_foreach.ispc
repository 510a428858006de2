export void f(uniform int a[]) {
    foreach (i = 0; i < 10) a[i] = 1; //~ error: E0113
}
