// foreach inside a loop that lanes leave one by one: once per turn, all lanes on.
//~ run: f() out[i] == W
export void f(uniform int out[]) {
    for (int k = 0; k <= programIndex; ++k) {
        foreach (i = 0 ... 64) out[i] += 1;
    }
}
