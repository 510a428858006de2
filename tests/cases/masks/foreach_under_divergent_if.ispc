// A foreach under a divergent if runs once, with all lanes on.
//~ run: f(n=50) out[i] == (i < 50 ? 1 : 0)
export void f(uniform int n, uniform int out[]) {
    if (programIndex == 0) {
        foreach (i = 0 ... n) out[i] += 1;
    }
}
