// The expression is evaluated once, before the first turn.
//~ run: f() result == min(W, 2)
export uniform int f() {
    int v = programIndex % 2;
    uniform int turns = 0;
    foreach_unique (u in v) {
        v = programIndex + 100;
        ++turns;
    }
    return turns;
}
