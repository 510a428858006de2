// A comparison gives a vector of bools, which chooses by component.
//~ run: f() result == 35
export uniform int f() {
    uniform int<2> a = { 3, 9 }, b = { 7, 5 };
    uniform int<2> c = a < b ? a : b;
    return c.x * 10 + c.y;
}
