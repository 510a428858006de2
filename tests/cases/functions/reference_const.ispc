// A const reference reads without copying.
//~ run: f() result == 42
static uniform int doubled(const uniform int &x) { return x * 2; }
export uniform int f() {
    uniform int n = 21;
    return doubled(n);
}
