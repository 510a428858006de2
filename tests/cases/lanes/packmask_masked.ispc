// Inactive lanes give 0 bits.
//~ run: f() result == sum(k, 0, W, k % 3 == 0 && k > 1 ? 1 << k : 0)
export uniform uint64 f() {
    uniform uint64 r = 0;
    bool b = programIndex % 3 == 0;
    if (programIndex > 1) r = packmask(b);
    return r;
}
