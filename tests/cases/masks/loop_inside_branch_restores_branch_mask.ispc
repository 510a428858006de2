// After a loop inside a branch, the branch's mask is back, not the function's.
//~ run: f() out[i] == (i < W && i % 2 == 0)
export void f(uniform int out[]) {
    if (programIndex % 2 == 0) {
        for (int k = 0; k < 10; ++k) {
            if (k == programIndex) break;
        }
        out[programIndex] = 1;
    }
}
