// Uniform values by type.
//~ run: f(n=-5, x=2.5, b=true)
//~   print: n = -5, x = 2.500000, b = true
export void f(uniform int n, uniform float x, uniform bool b) { print("n = %, x = %, b = %\n", n, x, b); }
