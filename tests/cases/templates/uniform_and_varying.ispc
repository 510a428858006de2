// A type argument carries its variability.
//~ run: f() out[i] == (i < W ? i * i : 0); result == 25
template <typename T> T square(T x) { return x * x; }
export uniform int f(uniform int out[]) {
    out[programIndex] = square<varying int>(programIndex);
    return square<uniform int>(5);
}
