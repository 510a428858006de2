// A special version for one type.
//~ run: f() result == 12
template <typename T> uniform int kind(T x) { return 1; }
template <> uniform int kind<uniform float>(uniform float x) { return 2; }
export uniform int f() {
    uniform int n = 0;
    uniform float x = 0;
    return kind<uniform int>(n) * 10 + kind<uniform float>(x);
}
