// Scans by bit operations.
//~ run: f() o[i] == (i < W ? (i == 0 ? 0 : (1 << min(i, 31)) - 1) : 0); n[i] == (i < W ? (i == 0 ? -1 : 12) : 0)
export void f(uniform int o[], uniform int n[]) {
    int bit = programIndex < 31 ? 1 << programIndex : 0;
    o[programIndex] = exclusive_scan_or(bit);
    n[programIndex] = exclusive_scan_and(12);
}
