// A unary plus changes nothing.
//~ run: f(x=7) result == 7
export uniform int f(uniform int x) { return +x; }
