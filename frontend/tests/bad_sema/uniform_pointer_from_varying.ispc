export void f(uniform float a[]) {
    uniform float * uniform p = &a[programIndex];
    uniform bool b = a[programIndex] < 1;
}
