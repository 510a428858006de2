// A reference parameter changes the caller's variable.
//~ run: f() result == 12
static void bump(uniform int &x, uniform int by) { x += by; }
export uniform int f() {
    uniform int n = 5;
    bump(n, 7);
    return n;
}
