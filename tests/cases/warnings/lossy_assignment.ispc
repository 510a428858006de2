// A compound assignment converts its right side to the left side's type first.
//~ run: f() result == 0
export uniform int f() {
    uniform int n = 7;
    n *= 0.5; //~ warning: W0207
    return n;
}
