// Type arguments follow from the call.
//~ run: f() out[i] == (i < W ? i * 3 : 0); result == 12
template <typename T> T triple(T x) { return x * 3; }
export uniform int f(uniform int out[]) {
    out[programIndex] = triple(programIndex);
    return triple((uniform int)4);
}
