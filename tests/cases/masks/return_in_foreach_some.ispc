// Only the lanes whose element asks for it return.
//~ run: f() after[i] == (i < W && i % 4 != 1)
export void f(uniform int after[]) {
    foreach (i = 0 ... programCount) {
        if (i % 4 == 1) return;
    }
    after[programIndex] = 1;
}
