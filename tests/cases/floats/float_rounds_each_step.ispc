// Floats do not keep extra precision.
//~ run: f(x=16777216.0) result == 16777216.0
export uniform float f(uniform float x) { return x + 1 + 1 - 0; }
