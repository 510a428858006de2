// A recursion that does not end for one lane.
//~ run: f()
//~   trap: stack_overflow
static int down(int n) {
    if (n < 0) return 0;
    return down(n == 0 ? 0 : n - 100) + 1;
}
export uniform int f() { return reduce_add(down(programIndex)); }
