// A function that ends without `return` gives zero; the compiler warns.
//~ run: f() out[i] == (i < W && i == 0 ? 5 : 0)
static int g(int x) {
    if (x == 0) return 5;
} //~ warning: W0208
export void f(uniform int out[]) { out[programIndex] = g(programIndex); }
