// `(void)` is an empty list.
//~ run: f() result == 3
static uniform int three(void) { return 3; }
export uniform int f(void) { return three(); }
