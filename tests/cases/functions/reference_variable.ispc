// A reference as a local name for a variable.
//~ run: f() result == 9
export uniform int f() {
    uniform int n = 4;
    uniform int &r = n;
    r = r + 5;
    return n;
}
