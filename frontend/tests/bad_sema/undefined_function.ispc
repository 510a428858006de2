static void later(float x);
template <typename T> T never(T x);
extern "C" void host(uniform int x);
export void f(float x) { host(3); later(x); never<float>(x); }
