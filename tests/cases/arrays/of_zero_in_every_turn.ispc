// Also in the second turn of a loop.
//~ run: f() result == 0
export uniform int f() {
    uniform int last = 5;
    for (uniform int k = 0; k < 3; ++k) {
        uniform int t[4];
        last = t[1];
        t[1] = 77;
    }
    return last;
}
