// A uniform condition evaluates only the chosen side: the other one would divide by zero.
//~ run: f(d=0) result == -1
//~ run: f(d=5) result == 20
export uniform int f(uniform int d) { return d == 0 ? -1 : 100 / d; }
