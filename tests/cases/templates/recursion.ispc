// An instance that calls itself.
//~ run: f() out[i] == (i < W ? (1 << i % 10) : 0)
template <typename T> T power(T base, T n) {
    if (n == 0) return 1;
    return base * power<T>(base, n - 1);
}
export void f(uniform int out[]) { out[programIndex] = power<varying int>(2, programIndex % 10); }
