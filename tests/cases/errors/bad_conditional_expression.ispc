#if 1 + //~ error: E0008
#endif
export void f() { }
