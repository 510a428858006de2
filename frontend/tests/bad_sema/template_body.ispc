template <typename T> T half(T x) { return x.value / 2; }
export void f(float x) { float y = half(x); }
