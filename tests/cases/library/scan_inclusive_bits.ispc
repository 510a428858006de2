// Inclusive scans by bit operations, of active lanes only.
//~ run: f() o[i] == (i < W ? (i % 2 == 0 ? sum(k, 0, 32, k % 2 == 0 && k <= i ? 1 << k : 0) : 0) : 0)
//~ also: n[i] == (i < W ? (i % 2 == 0 ? ~sum(k, 0, 31, k % 2 == 0 && k <= i ? 1 << k : 0) : 0) : 0)
export void f(uniform int o[], uniform int n[]) {
    int bit = programIndex < 31 ? 1 << programIndex : 0;
    if (programIndex % 2 == 0) {
        o[programIndex] = inclusive_scan_or(bit);
        n[programIndex] = inclusive_scan_and(~bit);
    }
}
