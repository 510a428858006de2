#error this must not be compiled //~ error: E0015
export void f() { }
