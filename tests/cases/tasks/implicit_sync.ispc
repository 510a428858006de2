// A function waits for its tasks before it returns.
//~ run: f() result == 120
task void one(uniform int t[]) {
    uniform int sum = 0;
    for (uniform int k = 0; k < 1000; ++k) sum += k % 7;
    t[taskIndex] = sum - sum + taskIndex;
}
static void fill(uniform int t[], uniform int from) { launch[8] one(t + from); }
static noinline void fill_some(uniform int t[]) {
    if (programIndex < 0) return;
    fill(t, 0);
    launch[8] one(t + 8);
}
export uniform int f() {
    uniform int t[16];
    fill_some(t);
    uniform int sum = 0;
    for (uniform int k = 0; k < 16; ++k) sum += (k < 8 ? t[k] : t[k] + 8);
    return sum;
}
