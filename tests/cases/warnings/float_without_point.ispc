//~ run: f() result == 1.0
export uniform float f() { return 1f; } //~ warning: W0005
