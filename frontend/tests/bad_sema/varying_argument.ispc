uniform float g(uniform float x) { return x; }
export void f(uniform float a[]) { float v = a[programIndex]; a[0] = g(v); }
