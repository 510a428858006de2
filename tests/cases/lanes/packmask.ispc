// One bit per active lane where the value is true.
//~ run: f() result == sum(k, 0, W, k % 2 == 0 ? 1 << k : 0)
export uniform uint64 f() { return packmask(programIndex % 2 == 0); }
