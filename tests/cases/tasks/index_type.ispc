// The numbers of tasks are unsigned, as in ISPC: they choose overloads and mix with unsigned sizes.
//~ run: f(n=10) out[i] == (i < 3 ? 2 : 0); last[i] == (i == 0 ? 4 : i == 1 ? 8 : i == 2 ? 10 : 0)
uniform int kind(uniform int x) { return 1; }
uniform int kind(uniform uint32 x) { return 2; }
task void one(uniform int out[], uniform int last[], uniform int n) {
    out[taskIndex] = kind(taskIndex);
    last[taskIndex] = min((taskIndex + 1) * 4, (uniform uint32)n);
}
export void f(uniform int n, uniform int out[], uniform int last[]) {
    launch[3] one(out, last, n);
}
