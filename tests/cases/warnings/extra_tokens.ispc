//~ run: f() result == 1
#define A
#ifdef A
#endif A //~ warning: W0004
export uniform int f() { return 1; }
