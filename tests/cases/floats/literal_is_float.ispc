// A literal without a suffix is a float, so 0.1 is rounded to 24 bits.
//~ run: f() result == f32(0.1)
export uniform double f() { return 0.1; } //~ warning: W0214
