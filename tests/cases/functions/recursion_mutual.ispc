// Two functions that call each other; one is declared before it is defined.
//~ run: f() out[i] == (i % 2 == 0)
static bool is_odd(int n);
static bool is_even(int n) {
    if (n == 0) return true;
    return is_odd(n - 1);
}
static bool is_odd(int n) {
    if (n == 0) return false;
    return is_even(n - 1);
}
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = is_even(i) ? 1 : 0;
}
