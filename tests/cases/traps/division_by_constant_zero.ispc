// A constant zero traps when it is reached; the compiler warns.
//~ run: f(n=1) result == 1
//~ run: f(n=0)
//~   trap: division_by_zero
export uniform int f(uniform int n) {
    if (n == 0) return 5 / 0; //~ warning: W0205
    return n;
}
