// A uniform loop.
//~ run: f(n=10) result == 55
export uniform int f(uniform int n) {
    uniform int sum = 0;
    while (n > 0) sum += n--;
    return sum;
}
