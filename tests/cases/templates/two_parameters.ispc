// Two type parameters.
//~ run: f() result == 7
template <typename T, typename U> T plus(T a, U b) { return a + (T)b; }
export uniform int f() {
    uniform int a = 4;
    uniform float b = 3.5;
    return plus<uniform int, uniform float>(a, b);
}
