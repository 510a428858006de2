// A recursion that diverges wildly.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i % 3 == 0 ? i / 3 % 4 + 1 : i % 3 == 1 ? i / 3 % 4 + 2 : 2 * (i / 3 % 4) + 3)
static int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = ackermann(i % 3, i / 3 % 4);
}
