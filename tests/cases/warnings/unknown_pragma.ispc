//~ run: f() result == 1
#pragma nonsense //~ warning: W0003
export uniform int f() { return 1; }
