// A macro without parameters.
//~ run: f() result == 42
#define ANSWER 42
export uniform int f() { return ANSWER; }
