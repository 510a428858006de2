static_assert(sizeof(uniform int) == 8, "ints are four bytes"); //~ error: E0231
export void f() { }
