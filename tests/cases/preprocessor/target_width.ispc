// The width is known to the preprocessor.
//~ run: f() result == W
export uniform int f() { return TARGET_WIDTH; }
