// An assumption is a hint.
//~ run: f(n=4) result == 8
export uniform int f(uniform int n) {
    assume(n > 0);
    return n * 2;
}
