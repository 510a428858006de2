export void f(uniform float a[]) {
    printf("%d", 3);
    a[threadIdx] = fabs(a[0]);
}
