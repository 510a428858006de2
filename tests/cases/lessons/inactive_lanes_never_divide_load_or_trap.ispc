// Inactive lanes hold what would divide by zero, lie out of bounds or fail an assertion; none of that happens. The same
// without the mask traps.
//~ run: f(a=[30, 0, 50, 0], d=[1, 0, 2, 0], guard=1) out[i] == (i == 0 ? 30 + 1 : i == 2 ? 25 + 2 : 0)
//~ run: f(a=[30, 0, 50, 0], d=[1, 0, 2, 0], guard=0)
//~ trap: division_by_zero lane=W==1?0:1
export void f(uniform int a[], uniform int d[], uniform int guard, uniform int out[]) {
    for (int i = programIndex; i < 4; i += programCount) {
        int divisor = d[i];
        int index = divisor == 0 ? 1 << 30 : i;
        if (divisor != 0 || guard == 0) {
            int quotient = a[i] / divisor;
            int remainder = a[i] % divisor;
            assert(divisor > 0);
            out[i] = quotient + remainder + d[index];
        }
    }
}
