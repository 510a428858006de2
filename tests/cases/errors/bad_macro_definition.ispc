#define 12 13 //~ error: E0009
export void f() { }
