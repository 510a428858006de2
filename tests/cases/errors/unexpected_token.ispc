export void f() {
    uniform int x = 1;
}
} //~ error: E0100
