// Macros may be defined by the caller.
//~ define: SIZE=12
//~ run: f() result == 24
export uniform int f() { return SIZE * 2; }
