// The number of active lanes in which a bool is true.
//~ run: f() result == count(k, 0, W, k % 2 == 0 && k % 3 == 0)
export uniform int f() {
    uniform int r = 0;
    if (programIndex % 2 == 0) r = popcnt(programIndex % 3 == 0);
    return r;
}
