// Values come in the order of the lowest lane that has them.
//~ run: f() out[i] == (i < min(W, 3) ? 2 - i : 0)
export void f(uniform int out[]) {
    int v = 2 - programIndex % 3;
    uniform int turn = 0;
    foreach_unique (u in v) {
        out[turn] = u;
        ++turn;
    }
}
