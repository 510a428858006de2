// A varying return in the exported function itself.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? 1 : 2) : 0)
export void f(uniform int out[]) {
    out[programIndex] = 1;
    if (programIndex % 2 == 0) return;
    out[programIndex] = 2;
}
