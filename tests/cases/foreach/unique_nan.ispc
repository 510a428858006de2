// A NaN equals nothing, so each NaN lane has a turn of its own.
//~ run: f() result == W
export uniform int f() {
    float zero = 0;
    float v = zero / zero;
    uniform int turns = 0;
    foreach_unique (u in v) ++turns;
    return turns;
}
