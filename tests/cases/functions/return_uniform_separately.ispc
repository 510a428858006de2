// Lanes that return separately from a function with a uniform result: the last return that is executed gives it.
//~ run: f(n=1) result == (W > 1 ? 20 : 10)
//~ run: f(n=64) result == 10
static uniform int g(int x, uniform int n) {
    if (x < n) return 10;
    return 20;
}
export uniform int f(uniform int n) { return g(programIndex, n); }
