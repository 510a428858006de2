template <typename T> export void f(uniform T x) { } //~ error: E0226
export void g() { }
