export void f(uniform int a[]) {
    foreach (i = 0 ... 10) {
        i = 3; //~ error: E0205
        a[i] = 1;
    }
}
