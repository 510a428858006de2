// NaN is not less, not greater, not equal: only `!=` holds.
//~ run: f(x=nan) result == 32
export uniform int f(uniform float x) {
    uniform int bits = 0;
    if (x < 1) bits += 1;
    if (x <= 1) bits += 2;
    if (x > 1) bits += 4;
    if (x >= 1) bits += 8;
    if (x == x) bits += 16;
    if (x != x) bits += 32;
    return bits;
}
