// There is at least one core.
//~ run: f() result == 1
export uniform int f() { return num_cores() >= 1 ? 1 : 0; }
