// Library functions work component by component.
//~ run: f() result == 3 * 100 + 7 * 10 + 2
export uniform int f() {
    uniform int<3> a = { 3, 9, 2 }, b = { 5, 7, 4 };
    uniform int<3> c = min(a, b);
    return c.x * 100 + c.y * 10 + c.z;
}
