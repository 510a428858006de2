uniform int g()[3]; //~ error: E0107
export void f() { }
