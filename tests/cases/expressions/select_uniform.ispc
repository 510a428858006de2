// `select` with a uniform condition.
//~ run: f(c=true) result == 2.5
//~ run: f(c=false) result == -1.0
export uniform float f(uniform bool c) { return select(c, 2.5, -1.0); }
