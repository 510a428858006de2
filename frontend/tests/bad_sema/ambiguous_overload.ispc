void g(int a, float b) { }
void g(float a, int b) { }
export void f(uniform int8 x) { g(1, 2); g(x, x); }
