// continue ends a value's turn, break the loop.
//~ run: f() out[i] == (i < W && i % 4 == 1)
export void f(uniform int out[]) {
    int v = programIndex % 4;
    foreach_unique (u in v) {
        if (u == 0) continue;
        if (u == 2) break;
        out[programIndex] = 1;
    }
}
