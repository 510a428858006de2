#if 1 //~ error: E0007
export void f() { }
