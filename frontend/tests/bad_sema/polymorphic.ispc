uniform floating half(uniform floating x) { return x / 2; }
floating wrong(int x) { return x; }
export void f(float<2> v) { uniform float y = half(v); }
