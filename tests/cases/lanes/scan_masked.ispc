// A scan skips inactive lanes.
//~ run: f() out[i] == (i < W && i % 2 == 0 ? sum(k, 0, i, k % 2 == 0 ? k : 0) : 0)
export void f(uniform int out[]) {
    if (programIndex % 2 == 0) out[programIndex] = exclusive_scan_add(programIndex);
}
