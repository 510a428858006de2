// Width and precision.
//~ run: f(n=42, x=3.14159)
//~   print: [   42] [0042] [3.14]
export void f(uniform int n, uniform float x) { print("[%5d] [%04d] [%.2f]\n", n, n, x); }
