// The variant that gives the common value.
//~ run: f() result == 40
export uniform int f() {
    int v = programIndex * 0 + 40;
    uniform int same = 0;
    if (reduce_equal(v, &same)) return same;
    return -1;
}
