// A macro with any number of arguments.
//~ run: f() result == 6
static uniform int add(uniform int a, uniform int b, uniform int c) { return a + b + c; }
#define CALL(name, ...) name(__VA_ARGS__)
export uniform int f() { return CALL(add, 1, 2, 3); }
