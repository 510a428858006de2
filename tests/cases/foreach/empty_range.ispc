// An empty range.
//~ run: f(n=0) out[i] == 0
export void f(uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) out[i] += 1;
}
