// At the start all lanes are active.
//~ run: f() result == (1 << W) - 1
export uniform uint64 f() { return lanemask(); }
