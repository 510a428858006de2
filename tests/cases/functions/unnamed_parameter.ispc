// A parameter without a name.
//~ run: f() result == 5
static uniform int second(uniform int, uniform int y) { return y; }
export uniform int f() { return second(4, 5); }
