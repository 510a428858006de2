// An assertion with a message of its own.
//~ run: f(n=2)
//~   trap: assertion message=n must be one
export uniform int f(uniform int n) {
    assert(n == 1, "n must be one");
    return n;
}
