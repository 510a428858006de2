// A return in a callee leaves only the callee.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? 1 : 2) + 10 : 0)
static int g(int i) {
    if (i % 2 == 0) return 1;
    return 2;
}
export void f(uniform int out[]) {
    int r = 0;
    if (programIndex >= 0) r = g(programIndex);
    out[programIndex] = r + 10;
}
