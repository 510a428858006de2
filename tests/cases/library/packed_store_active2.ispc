// packed_store_active2 writes the active lanes' values and nothing beyond them.
//~ run: f(out=fill(-1)) result == (W + 1) / 2; out[i] == (i < (W + 1) / 2 ? i * 2 : -1)
export uniform int f(uniform int out[]) {
    uniform int n = 0;
    if (programIndex % 2 == 0)
        n = packed_store_active2(out, programIndex);
    return n;
}
