// Compare and exchange with a partner lane.
//~ run: f() out[i] == (i < W ? (W == 1 ? 0 : W - 1 - (i ^ 1)) : 0)
export void f(uniform int out[]) {
    int v = programCount - 1 - programIndex;
    int other = shuffle(v, programIndex ^ 1);
    int r = programIndex % 2 == 0 ? min(v, other) : max(v, other);
    out[programIndex] = r;
}
