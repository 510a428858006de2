// float16 prints as a float does.
//~ run: f(h=0.5)
//~   print: 0.500000
export void f(uniform float16 h) { print("%\n", h); }
