// break ends the loop: the lanes after it have no turn.
//~ run: f() out[i] == (i < W && i < 3); after[i] == (i < W)
export void f(uniform int out[], uniform int after[]) {
    foreach_active (lane) {
        if (lane == 3) break;
        out[lane] = 1;
    }
    after[programIndex] = 1;
}
