// So does its negation.
//~ run: f(a=-128) result == -128
export uniform int8 f(uniform int8 a) { return -a; }
