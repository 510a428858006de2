// Callers may leave out arguments with defaults.
//~ run: f(x=1) result == 11
//~ run: f(x=1, y=2) result == 3
export uniform int f(uniform int x, uniform int y = 10) { return x + y; }
