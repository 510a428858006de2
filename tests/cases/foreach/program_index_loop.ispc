// The same range by hand, with programIndex and programCount.
//~ run: f(n=64) out[i] == i * 2
export void f(uniform int n, uniform int out[]) {
    for (uniform int k = 0; k < n; k += programCount) {
        int i = k + programIndex;
        out[i] = i * 2;
    }
}
