// Components may be called r, g, b, a.
//~ run: f() result == 1234
export uniform int f() {
    uniform int<4> c = { 1, 2, 3, 4 };
    return c.r * 1000 + c.g * 100 + c.b * 10 + c.a;
}
