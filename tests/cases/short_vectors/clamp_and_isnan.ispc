// Three arguments, and results of another type.
//~ run: f() result == 111
export uniform int f() {
    uniform float<3> a = { -5, 0.5, 7 }, low = { 0, 0, 0 }, high = { 1, 1, 1 };
    uniform float<3> c = clamp(a, low, high);
    uniform bool<3> n = isnan(c);
    return (c.x == 0 ? 100 : 0) + (c.y == 0.5 ? 10 : 0) + (c.z == 1 && !n.x ? 1 : 0);
}
