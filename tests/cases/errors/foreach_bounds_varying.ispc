export void f(uniform int a[]) {
    foreach (i = 0 ... programIndex) a[i] = 1; //~ error: E0221
}
