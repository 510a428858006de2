export void f(uniform int * varying p) { } //~ error: E0224
