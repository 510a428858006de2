// Under an empty mask it does not run.
//~ run: f(n=50) out[i] == 0
export void f(uniform int n, uniform int out[]) {
    if (programIndex < 0) {
        foreach (i = 0 ... n) out[i] += 1;
    }
}
