// A uniform counter.
//~ run: f(n=9) out[i] == (i < W ? 36 * i : 0)
export void f(uniform int n, uniform int out[]) {
    int sum = 0;
    for (uniform int k = 0; k < n; ++k) sum += k * programIndex;
    out[programIndex] = sum;
}
