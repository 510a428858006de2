// A uniform function pointer.
//~ run: f(k=0) result == 8
//~ run: f(k=1) result == 16
typedef uniform int (* uniform Function)(uniform int);
static uniform int twice(uniform int x) { return x * 2; }
static uniform int square(uniform int x) { return x * x; }
export uniform int f(uniform int k) {
    Function g = k == 0 ? &twice : &square;
    return g(4);
}
