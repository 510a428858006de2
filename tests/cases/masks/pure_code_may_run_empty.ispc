// Pure varying code has no effect that could tell whether it ran under an empty mask.
//~ run: f() out[i] == (i < W ? i : 0)
export void f(uniform int out[]) {
    int x = programIndex;
    if (programIndex < 0) {
        int y = x * 2;
        x = y + 1;
    }
    out[programIndex] = x;
}
