// programCount is the width.
//~ run: f() result == W
export uniform int f() { return programCount; }
