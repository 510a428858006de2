// The form with a condition of its own.
//~ run: f() result == (W + 1) / 2; out[i] == (i < (W + 1) / 2 ? i * 2 : 0)
export uniform int f(uniform int out[]) { return packed_store_active(programIndex % 2 == 0, out, programIndex); }
