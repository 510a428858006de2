// After a loop all lanes are back, whenever they left it.
//~ run: f() out[i] == (i < W)
export void f(uniform int out[]) {
    for (int k = 0; k < 100; ++k) {
        if (programIndex % 3 == 0) break;
        if (k == programIndex % 10) break;
    }
    out[programIndex] = 1;
}
