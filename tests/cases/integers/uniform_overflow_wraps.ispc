// Uniform arithmetic is the same arithmetic.
//~ run: f(x=2147483647) result == -2147483648
export uniform int f(uniform int x) { return x + 1; }
