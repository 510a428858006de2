static uniform int g(uniform int a, uniform float b) { return 1; }
static uniform int g(uniform float a, uniform int b) { return 2; }
export uniform int f() {
    return g(1, 1); //~ error: E0208
}
