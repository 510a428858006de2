// A foreach in a function that is called under a divergent mask runs once, with all lanes on.
//~ run: f(n=50) out[i] == (i < 50 ? 1 : 0)
static void fill_ones(uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) out[i] += 1;
}
export void f(uniform int n, uniform int out[]) {
    if (programIndex == 0) fill_ones(n, out);
}
