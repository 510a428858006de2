// The value is uniform in the body.
//~ run: f() out[i] == (i < min(W, 4) ? i * 10 : 0)
export void f(uniform int out[]) {
    int v = programIndex % 4;
    foreach_unique (u in v) {
        uniform int at = u;
        out[at] = at * 10;
    }
}
