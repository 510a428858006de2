// Infinities and NaN.
//~ run: f(a=inf, b=-inf, c=nan)
//~   print: inf -inf nan
export void f(uniform float a, uniform float b, uniform float c) { print("% % %\n", a, b, c); }
