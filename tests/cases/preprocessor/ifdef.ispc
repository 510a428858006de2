// #ifdef, #ifndef, #undef.
//~ run: f() result == 5
#define A
#ifdef A
#undef A
#endif
#ifndef A
export uniform int f() { return 5; }
#else
export uniform int f() { return 6; }
#endif
