export void f(uniform int a[]) {
    foreach (int i = 0 ... 10) a[i] = 1; //~ error: E0113
}
