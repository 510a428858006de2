// A doubled percent sign is one.
//~ run: f(n=50)
//~   print: %50
export void f(uniform int n) { print("%%%\n", n); }
