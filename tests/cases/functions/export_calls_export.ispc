// Exported functions may call one another.
//~ run: f(x=3) result == 10
//~ run: g(x=3) result == 9
export uniform int g(uniform int x) { return x * x; }
export uniform int f(uniform int x) { return g(x) + 1; }
