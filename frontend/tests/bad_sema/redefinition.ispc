struct S { int x; };
struct S { int y; };
float g(float x) { return x; }
float g(float y) { return y; }
int g(float z);
uniform int n;
uniform float n;
export void f(float a) {
    float b;
    int b;
    enum E { One, Two, One };
}
