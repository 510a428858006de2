// `export static` is `export`.
//~ run: f(n=4) result == 5
export static uniform int f(uniform int n) { return n + 1; }
