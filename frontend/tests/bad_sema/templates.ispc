template <typename T> T twice(T x) { return x + x; }
template <int N> int times(int x) { return x * N; }
export void f(float x) {
    float a = twice<float, int>(x);
    int b = times(3);
    int c = times<float>(3);
    float d = twice(x, x);
    int e = missing<3>(x);
}
