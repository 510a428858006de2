export void f(varying int * uniform p) { } //~ error: E0224
