extern "C" void host(uniform int x);
void later(float x);
export void f(float x) { host(3); later(x); }
