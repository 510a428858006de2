// Only active lanes vote.
//~ run: f() result == (W > 1 ? 1 + 4 : 0)
export uniform int f() {
    uniform int bits = 0;
    if (programIndex > 0) {
        if (all(programIndex > 0)) bits += 1;
        if (any(programIndex == 0)) bits += 2;
        if (none(programIndex == 0)) bits += 4;
    }
    return bits;
}
