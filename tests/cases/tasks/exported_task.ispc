// A task that hosts call: it is launched once, and may be launched by others too.
//~ run: one(n=3) out[i] == (i == 0 ? 13 : 0)
//~ run: two() out[i] == (i < 4 ? 45 : 0)
export task void one(uniform int out[], uniform int n) { out[taskIndex] = 10 * taskCount + n; }
export void two(uniform int out[]) { launch[4] one(out, 5); }
