// `__mask` is the execution mask as a varying bool: true in the lanes that are active.
//~ run: f() all[i] == (i < W); some[i] == (i < W ? (i % 2 == 0 ? 1 : 0) : 0); off[i] == (i < W ? 1 : 0); n[0] == (W + 1) / 2
static int in_callee() {
    bool mask = __mask;
    return mask ? 1 : 0;
}
export void f(uniform int all[], uniform int some[], uniform int off[], uniform int n[]) {
    all[programIndex] = __mask;
    if (programIndex % 2 == 0) {
        varying bool mask = __mask;
        n[0] = popcnt(__mask);
        unmasked {
            some[programIndex] = mask ? 1 : 0;
            off[programIndex] = __mask ? 1 : 0;
        }
        int seen = in_callee();
        unmasked { assert(seen == (mask ? 1 : 0)); }
    }
}
