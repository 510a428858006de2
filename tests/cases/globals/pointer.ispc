// A global pointer to another global.
//~ run: f() result == 7
//~ run: f() result == 8
uniform int value = 6;
uniform int * uniform where = &value;
export uniform int f() { return ++*where; }
