// The branches that are not taken are not read.
//~ run: f() result == 2
#define MODE 2
#if MODE == 1
export uniform int f() { return 1; }
#elif MODE == 2 && defined(MODE)
export uniform int f() { return 2; }
#else
this is no program
#endif
