static uniform int g(uniform int a, uniform int b) { return a + b; }
export uniform int f() {
    return g(1); //~ error: E0207
}
