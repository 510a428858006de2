// return without a value, under a varying condition: later effects are only the others'.
//~ run: f() out[i] == (i < 8 ? 1 : 2)
static void mark(int i, uniform int out[]) {
    out[i] = 1;
    if (i < 8) return;
    out[i] = 2;
}
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) mark(i, out);
}
