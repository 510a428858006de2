// `__mask` is read where it stands: after lanes left, in operands that only some lanes evaluate, and in `return`.
//~ run: f() out[i] == (i < W ? (i < 2 ? 1 : 0) : 0); later[i] == (i < W ? (i == 2 ? 0 : 1) : 0)
static bool chosen(bool which) {
    if (which) return __mask;
    return false;
}
export void f(uniform int out[], uniform int later[]) {
    bool low = programIndex < 2;
    bool seen = low && __mask;
    bool given = chosen(low);
    out[programIndex] = (seen ? 1 : 0) & (given ? 1 : 0);
    bool after = true;
    for (uniform int k = 0; k < 1; ++k) {
        if (programIndex == 2) break;
        bool mask = __mask;
        unmasked { after = mask; }
    }
    later[programIndex] = after;
}
