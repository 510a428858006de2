// Components in another order.
//~ run: f() result == 321
export uniform int f() {
    uniform int<3> a = { 1, 2, 3 };
    uniform int<3> b = a.zyx;
    return b.x * 100 + b.y * 10 + b[2];
}
