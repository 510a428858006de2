// Arguments are expanded, a macro's own name is not expanded again.
//~ run: f() result == 8
#define TWO 2
#define ADD(a, b) (a + b)
#define x x
export uniform int f() {
    uniform int x = ADD(ADD(TWO, TWO), ADD(TWO, TWO));
    return x;
}
