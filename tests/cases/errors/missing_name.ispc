export void f() {
    uniform int = 4; //~ error: E0105
}
