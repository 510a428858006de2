// The sum of the lanes before.
//~ run: f() out[i] == (i < W ? i * (i - 1) / 2 : 0)
export void f(uniform int out[]) { out[programIndex] = exclusive_scan_add(programIndex); }
