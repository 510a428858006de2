// A local array with an index that varies stays in memory; members beside it too.
//~ run: f(n=32) out[i] == (i < W ? 32 * 31 / 2 + 32 : 0)
struct Table { uniform int count; uniform int at[8]; };
static void put(uniform Table &t, uniform int i) {
    t.at[i & 7] = i;
    t.count = 1;
}
export void f(uniform int n, uniform int out[]) {
    uniform Table t;
    uniform int sum = 0;
    for (uniform int i = 0; i < n; ++i) {
        put(t, i);
        sum += t.at[i & 7] + t.count;
    }
    out[programIndex] = sum;
}
