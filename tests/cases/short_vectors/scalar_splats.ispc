// A scalar operand goes to every component.
//~ run: f() result == 2 * 10 + 4
export uniform int f() {
    uniform int<2> a = { 1, 2 };
    a = a * 2;
    return a.x * 10 + a.y;
}
