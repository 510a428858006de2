// What happens inside does not touch the caller's mask.
//~ run: f() out[i] == (i < W && i % 3 == 0 ? i + min(W, 2) : 0)
static uniform int kinds(uniform int x) {
    int v = (programIndex + x) % 2;
    uniform int n = 0;
    foreach_unique (u in v) ++n;
    return x + n;
}
export void f(uniform int out[]) {
    int x = programIndex;
    if (programIndex % 3 == 0) {
        int r = crev kinds(x);
        out[programIndex] = r;
    }
}
