// Default arguments are filled in for a re-vectorised call.
//~ run: f() out[i] == (i < W ? i * 100 + 10 + W : 0)
static uniform int g(uniform int x, uniform int y = 10) { return x * 100 + y + reduce_add(1 + 0 * programIndex); }
export void f(uniform int out[]) { out[programIndex] = crev g(programIndex); }
