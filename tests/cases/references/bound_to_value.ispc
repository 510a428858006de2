// A constant reference may be bound to a value, which then has a variable of its own.
//~ run: f(n=3) result == 47
int twice(const uniform int& x) {
    return x * 2;
}
export uniform int f(uniform int n) {
    const uniform int& a = n + 4;
    return a + reduce_max(twice(n * 5 + 5));
}
