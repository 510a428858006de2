// A loop by hand respects the mask, unlike foreach.
//~ run: f(n=64) out[i] == (i % W % 2 == 0)
export void f(uniform int n, uniform int out[]) {
    if (programIndex % 2 == 0) {
        for (uniform int k = 0; k < n; k += programCount) out[k + programIndex] = 1;
    }
}
