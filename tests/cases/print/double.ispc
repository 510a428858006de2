// Doubles show six decimals as well.
//~ run: f(x=0.1)
//~   print: 0.100000
export void f(uniform double x) { print("%\n", x); }
