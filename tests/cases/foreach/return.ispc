// A return in the loop leaves the function.
//~ run: f() out[i] == 0
export void f(uniform int out[]) {
    foreach (i = 0 ... programCount) {
        if (i >= 0) return;
    }
    out[programIndex] = 1;
}
