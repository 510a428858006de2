export void f(uniform int a[]) {
    foreach (i = 0 ... 8) {
        int sum = 0;
        foreach (j = 0 ... 8) {
            sum = a[i * 8 + j]; //~ error: E0236
        }
        a[i] = sum;
    }
}
