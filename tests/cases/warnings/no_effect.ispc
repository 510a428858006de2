//~ run: f(n=4) result == 4
export uniform int f(uniform int n) {
    n == 3; //~ warning: W0204
    return n;
}
