// A number as a parameter.
//~ run: f() out[i] == (i < W ? i * 5 : 0)
template <int N> int times(int x) {
    int r = 0;
    for (uniform int k = 0; k < N; ++k) r += x;
    return r;
}
export void f(uniform int out[]) { out[programIndex] = times<5>(programIndex); }
