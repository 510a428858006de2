// Calls as operands, arguments and indices.
//~ run: f(a=fill(i * 3)) result == 3 * (2 + 3) + 5
static uniform int add(uniform int x, uniform int y) { return x + y; }
export uniform int f(uniform int a[]) { return a[add(2, 3)] + add(add(1, 1), 3); }
