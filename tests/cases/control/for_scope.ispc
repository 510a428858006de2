// The counter is visible only in its loop.
//~ run: f() result == 7
export uniform int f() {
    uniform int i = 7;
    for (uniform int i = 0; i < 3; ++i) { }
    return i;
}
