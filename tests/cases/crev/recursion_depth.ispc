// Recursion goes as deep as the stack lets it; there it traps.
//~ run: f(n=500) out[0] == 500
//~ run: f(n=100000000) out[0] == 0
//~ trap: stack_overflow
static uniform int depth(uniform int n) {
    if (n == 0) return 0;
    int below = 0;
    if (programIndex == 0) below = crev depth(n - 1);
    return 1 + extract(below, 0);
}
export void f(uniform int n, uniform int out[]) {
    out[0] = depth(n);
}
