// A global variable with an initialiser; it keeps its value between calls.
//~ run: f(by=5) result == 15
//~ run: f(by=7) result == 22
uniform int total = 10;
export uniform int f(uniform int by) {
    total += by;
    return total;
}
