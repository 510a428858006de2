//~ run: f() result == 2
#define N 1
#define N 2 //~ warning: W0002
export uniform int f() { return N; }
