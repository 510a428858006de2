// A literal that does not fit in 32 bits has 64.
//~ run: f() result == 5000000000 * 3
export uniform int64 f() { return 5000000000 * 3; }
