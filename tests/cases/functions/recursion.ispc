// Recursion to a depth that differs from lane to lane.
//~ same-bits-at-every-width
//~ run: f() out[0] == 0; out[1] == 1; out[2] == 1; out[3] == 2; out[10] == 55; out[15] == 610; out[63] == 610
static int fib(int n) {
    if (n < 2) return n;
    return fib(n - 1) + fib(n - 2);
}
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = fib(min(i, 15));
}
