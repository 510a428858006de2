// Uniform recursion.
//~ run: f(n=10) result == 3628800
export uniform int f(uniform int n) { return n <= 1 ? 1 : n * f(n - 1); }
