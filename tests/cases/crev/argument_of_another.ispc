// The result of one call is the argument of another, and part of an expression.
//~ run: f() out[i] == (i < W && i % 2 == 0 ? 3 + 2 * ((i + W) * W) : 0)
static uniform int add(uniform int x) { return x + reduce_add((varying int)1); }
static uniform int times(uniform int x) { return reduce_add((varying int)x); }
export void f(uniform int out[]) {
    int x = programIndex;
    if (programIndex % 2 == 0) out[programIndex] = 3 + 2 * crev times(crev add(x));
}
