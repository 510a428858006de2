// `lanemask()` is the execution mask as bits.
//~ run: f() result == sum(k, 0, W, k % 3 == 0 ? 1 << k : 0)
export uniform uint64 f() {
    uniform uint64 m = 0;
    if (programIndex % 3 == 0) m = lanemask();
    return m;
}
