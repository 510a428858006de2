template <typename T> T g(T x) { return x; }
export uniform int f(uniform int x) {
    return g<uniform int, uniform int>(x); //~ error: E0207
}
