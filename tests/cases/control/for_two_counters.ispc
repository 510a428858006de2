// Several declarations and several steps.
//~ run: f() result == 0 * 10 + 1 * 8 + 2 * 6 + 3 * 4
export uniform int f() {
    uniform int sum = 0;
    for (uniform int a = 0, b = 10; a < b; ++a, b -= 2) sum += a * b;
    return sum;
}
