struct S { int x; };
export void f(float x) {
    S s = (S)x;
    uniform int i = (uniform int)x;
    float * uniform p = (float * uniform)x;
    int j = (int)s;
}
