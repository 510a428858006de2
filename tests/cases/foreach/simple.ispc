// Every index once, whatever the number of lanes.
//~ same-bits-at-every-width
//~ run: f(n=50) out[i] == (i < 50 ? i + 1 : 0)
export void f(uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) out[i] += i + 1;
}
