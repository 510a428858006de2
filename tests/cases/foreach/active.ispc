// foreach_active visits each active lane by itself, ascending.
//~ run: f() result == count(k, 0, W, k % 2 == 0); out[i] == (i < W && i % 2 == 0 ? i / 2 + 1 : 0)
export uniform int f(uniform int out[]) {
    uniform int turn = 0;
    if (programIndex % 2 == 0) {
        foreach_active (lane) {
            ++turn;
            out[lane] = turn;
        }
    }
    return turn;
}
