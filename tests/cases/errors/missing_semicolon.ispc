export void f() {
    uniform int x = 1 //~ error: E0101
    uniform int y = 2;
}
