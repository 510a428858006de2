export uniform int f(uniform int n) {
    whlie (n > 3) { //~ error: E0100
        n = n - 1;
    }
    return n;
}
