// Doubles do not pass through float anywhere.
//~ run: f(x=16777217.0) result == 16777218.0
export uniform double f(uniform double x) { return x + 1; }
