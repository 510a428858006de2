// Whether all active lanes hold the same value.
//~ run: f() result == (W > 1 ? 2 : 3)
export uniform int f() {
    uniform int bits = 0;
    int v = programIndex;
    if (reduce_equal(v)) bits += 1;
    int same = v - v + 4;
    if (reduce_equal(same)) bits += 2;
    return bits;
}
