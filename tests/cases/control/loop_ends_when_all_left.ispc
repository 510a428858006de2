// A loop without a condition ends when its last lane has left it: no lane is there to go on.
//~ run: f() result == W
export uniform int f() {
    uniform int turns = 0;
    int k = 0;
    while (true) {
        turns++;
        if (k == programIndex) break;
        ++k;
    }
    return turns;
}
