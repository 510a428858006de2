void g(float & r) { r = 1; }
export void f(uniform float a[], const float c) {
    int i;
    g(i);
    g(c);
    uniform float & r = a[programIndex];
    float & none;
    uniform float & s = 3;
}
