// Least and greatest value of the active lanes.
//~ run: f() lo[0] == 10 - (W - 1); hi[0] == 10; lo[1] == (W > 1 ? 11 - W : 99); hi[1] == (W > 1 ? 9 : 99)
export void f(uniform int lo[], uniform int hi[]) {
    int v = 10 - programIndex;
    lo[0] = reduce_min(v);
    hi[0] = reduce_max(v);
    lo[1] = 99;
    hi[1] = 99;
    if (programIndex > 0) {
        lo[1] = reduce_min(v);
        hi[1] = reduce_max(v);
    }
}
