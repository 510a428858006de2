// Templates in all their forms.
template <typename T> T twice(T x) { return x + x; }
template <typename T, int N, uniform int M = 4, bool B = true> noinline void many(T x[N]);
template <typename T = float, typename U> U convert(T x) { U y = (U)x; return y; }
enum E { ONE };
template <E e> int with_enum() { return e; }
template <> int twice<int>(int x) { return 2 * x; }
template <> float twice(float x) { return x; }
template float twice<float>(float x);
template extern int8 twice<int8>(int8);
template <typename T> T operator*(T a, T b);
template <> int operator*<int>(int a, int b) { return a; }
int later(int x) {
    int y = twice<int>(x) + twice(x) + many<uniform float *, 3 + 1>(x) + with_enum<ONE>();
    bool z = x < y && y > (x);
    y = unknown<float, 3>(x) + convert<float<3>, int<2>>(x);
    return x < 3 ? y > 2 : twice<uniform int>(4) > 3;
}
