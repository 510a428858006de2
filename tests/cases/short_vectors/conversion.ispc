// Conversion keeps the length and converts components.
//~ run: f() result == 12
export uniform int f() {
    uniform float<2> a = { 1.75, 2.25 };
    uniform int<2> b = a;
    return b.x * 10 + b.y;
}
