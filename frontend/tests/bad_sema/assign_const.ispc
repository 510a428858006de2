const uniform int n = 3;
export void f(const uniform float a[]) {
    const float x = 1;
    x = 2;
    n++;
    a[0] = 1;
    foreach (i = 0 ... 4) { i = 3; }
}
