// Templates by type and by number.
template <typename T> T twice(T x) { return x + x; }
template <typename T, int N> T times(T x) {
    T sum = 0;
    for (uniform int i = 0; i < N; ++i) sum += x;
    return sum;
}
export void f(uniform float out[]) {
    out[programIndex] = twice<int>(programIndex) + times<float, 5>(programIndex * 0.25f);
}
// call: f(out=zeros:f32:16)
