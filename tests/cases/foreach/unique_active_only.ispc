// Lanes that are not active have no value to visit.
//~ run: f() result == (W > 2 ? 2 : W > 1 ? 1 : 0)
export uniform int f() {
    uniform int turns = 0;
    if (programIndex % 2 == 1) {
        int v = programIndex % 4;
        foreach_unique (u in v) ++turns;
    }
    return turns;
}
