//~ run: f() result == 1
#warning careful //~ warning: W0001
export uniform int f() { return 1; }
