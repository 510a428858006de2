// An r-function calls another from some of its lanes; each context comes back as it was.
//~ run: f() out[i] == (i < W && i % 2 == 0 ? i * 1000 + sum(k, 0, W, k % 3 == 0 ? i + k + W : 1) : 0)
static uniform int inner(uniform int a, uniform int b) { return a + b + reduce_add((varying int)1); }
static uniform int outer(uniform int a) {
    int r = 1;
    if (programIndex % 3 == 0) r = crev inner(a, programIndex);
    return a * 1000 + reduce_add(r);
}
export void f(uniform int out[]) {
    int x = programIndex;
    if (programIndex % 2 == 0) {
        int r = crev outer(x);
        out[programIndex] = r;
    }
}
