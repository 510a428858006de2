export void f(uniform float a[]) {
    float x = 1
    float y = 2;
    a[programIndex] = x + y
    return
}
