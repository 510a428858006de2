// A range of one.
//~ run: f(n=1) out[i] == (i == 0)
export void f(uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) out[i] += 1;
}
