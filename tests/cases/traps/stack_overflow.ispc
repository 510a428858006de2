// A recursion that does not end.
//~ run: f()
//~   trap: stack_overflow
static uniform int down(uniform int n) { return down(n + 1) + 1; }
export uniform int f() { return down(0); }
