// Assigning to a parameter changes only the callee's copy, and only in active lanes.
//~ run: f() out[i] == (i < W ? i * 100 + (i < 2 ? 7 : i) : 0)
static int g(int x) {
    if (x < 2) x = 7;
    return x;
}
export void f(uniform int out[]) {
    int v = programIndex;
    int r = g(v);
    out[programIndex] = v * 100 + r;
}
