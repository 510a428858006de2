export void f() {
    uniform int t[-1]; //~ error: E0215
}
