// A uniform variable collects once per turn.
//~ run: f(n=40) result == (40 + W - 1) / W
export uniform int f(uniform int n) {
    uniform int turns = 0;
    foreach (i = 0 ... n) ++turns;
    return turns;
}
