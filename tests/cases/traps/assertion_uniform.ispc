// A uniform assertion.
//~ run: f(n=1) result == 1
//~ run: f(n=2)
//~   trap: assertion
export uniform int f(uniform int n) {
    assert(n == 1);
    return n;
}
