__attribute__((deprecated("use better()"))) float old(float x) { return x; }
export float f(int i, uniform float a[4]) {
    float unused = 3;
    float _quiet = 3;
    i *= 0.5;
    i == 3;
    i / 0;
    uniform int8 small = 300;
    const uniform float * uniform p = a;
    uniform float * uniform q = p;
    uniform float fixed[4];
    fixed[4] = *q;
    return old(fixed[0]);
    i = 3;
}
