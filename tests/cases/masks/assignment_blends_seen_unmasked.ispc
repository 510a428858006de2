// What inactive lanes hold was not touched, as `unmasked` shows at once.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? 50 : i) : 0)
export void f(uniform int out[]) {
    int x = programIndex;
    if (programIndex % 2 == 0) {
        x = 50;
        unmasked { out[programIndex] = x; }
    }
}
