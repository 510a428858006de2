uniform int operator+(uniform int a, uniform int b) { return a; } //~ error: E0239
export void f() { }
