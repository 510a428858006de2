export void f(uniform float a[]) {
    uniform int * uniform p = a;
    uniform float * uniform q = 3;
    uniform int i = a;
    if (p == a) { }
    p = p + a;
    uniform float x = a * 2;
}
