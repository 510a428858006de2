// A varying value takes one element per lane.
//~ run: f() result == 4 * W + 8 * W
export uniform int f() {
    double d = 1;
    return sizeof(varying int) + sizeof(d);
}
