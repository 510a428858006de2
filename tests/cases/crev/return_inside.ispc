// `return` inside leaves the called function only, for the lanes that do it; the caller's lane takes its own result.
//~ run: f() out[i] == (i < W && i % 2 == 0 ? (i % 4 == 0 ? i + 100 : i + 200) : 0)
static varying int pick(uniform int x) {
    if (programIndex % 4 == 0) return x + 100;
    return x + 200;
}
export void f(uniform int out[]) {
    if (programIndex % 2 == 0) {
        int r = crev pick(programIndex);
        out[programIndex] = r;
    }
}
//~ run: g() out[i] == (i < W ? (i == 0 ? -1 : i) : 0)
static void some(uniform int out[], uniform int x) {
    if (programIndex != x) return;
    if (x == 0) {
        out[x] = -1;
        return;
    }
    out[x] = x;
}
export void g(uniform int out[]) { crev some(out, programIndex); }
static void some_five(uniform int out[], uniform int x) { out[x] = 5; }
//~ run: h() out[i] == (i < W && i >= 2 ? 5 : 0)
export void h(uniform int out[]) {
    if (programIndex < 2) return;
    crev some_five(out, programIndex);
}
