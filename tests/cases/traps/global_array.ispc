// And global ones.
//~ run: f(k=-1)
//~   trap: out_of_bounds
//~ run: f(k=7) result == 0
uniform int t[8];
export uniform int f(uniform int k) { return t[k]; }
