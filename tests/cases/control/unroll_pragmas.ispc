// Pragmas before loops do not change what they do.
//~ run: f() out[i] == (i < W ? 10 * i : 0)
export void f(uniform int out[]) {
    int n = 0;
    #pragma unroll
    for (uniform int k = 0; k < 5; ++k) n += programIndex;
    #pragma nounroll
    for (uniform int k = 0; k < 5; ++k) n += programIndex;
    out[programIndex] = n;
}
