uniform float sum(uniform float x) { return x; }
static float two(float a, uniform int b) { return a; }
export void f(float x) {
    float y = crev sum(x);
    uniform float z = crev sum(x);
    crev x(3);
    float w = crev two(x);
}
