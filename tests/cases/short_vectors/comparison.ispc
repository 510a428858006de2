// Comparing gives a vector of bools.
//~ run: f() result == 101
export uniform int f() {
    uniform int<3> a = { 1, 5, 3 }, b = { 2, 5, 4 };
    uniform bool<3> c = a < b;
    return (c.x ? 100 : 0) + (c.y ? 10 : 0) + (c.z ? 1 : 0);
}
