// A declarator may use those before it in the same declaration.
//~ run: f(x=3) result == 6 + 9
export uniform int f(uniform int x) {
    uniform int a = x, b = a * 2, c = a + b;
    return b + c;
}
