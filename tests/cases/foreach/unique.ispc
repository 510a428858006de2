// foreach_unique visits each value once, with the lanes that have it.
//~ run: f() out[i] == (i < W ? count(k, 0, W, k % 3 == i % 3) : 0); result == min(W, 3)
export uniform int f(uniform int out[]) {
    int v = programIndex % 3;
    uniform int turns = 0;
    foreach_unique (u in v) {
        ++turns;
        out[programIndex] = popcnt(lanemask());
    }
    return turns;
}
