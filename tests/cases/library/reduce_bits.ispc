// Reductions by bit operations, active lanes only.
//~ run: f() a[0] == W - 1; a[1] == 8; a[2] == (W == 1 ? 5 : 0)
export void f(uniform int a[]) {
    int v = programIndex;
    a[0] = reduce_or(v);
    a[1] = reduce_and(v % 8 | 8) & 8;
    int x = 5;
    a[2] = reduce_xor(x);
}
