// A function for several types.
//~ run: f() a[0] == 7.0; a[1] == 2.5
template <typename T> T bigger(T a, T b) { return a > b ? a : b; }
export void f(uniform double a[]) {
    a[0] = bigger<uniform int>(3, 7);
    a[1] = bigger<uniform float>(2.5, 1.5);
}
