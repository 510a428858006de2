static_assert(sizeof(uniform int) == 8, "ints have eight bytes");
static_assert(programCount > 100);
export void f(uniform int n) { static_assert(n == 3); }
