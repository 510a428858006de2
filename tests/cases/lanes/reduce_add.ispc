// The sum over all lanes.
//~ run: f() result == W * (W - 1) / 2
export uniform int f() { return reduce_add(programIndex); }
