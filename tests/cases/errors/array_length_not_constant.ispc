export void f(uniform int n) {
    uniform int t[n]; //~ error: E0214
}
