export void f() {
    uniform varying int x; //~ error: E0106
}
