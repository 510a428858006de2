// After the loop every lane goes on.
//~ run: f() out[i] == (i < W)
export void f(uniform int out[]) {
    foreach (i = 0 ... 100) {
        if (i % 2 == 0) break;
    }
    out[programIndex] = 1;
}
