export void f() {
    uniform int x = 1;
    (x + 1) = 2; //~ error: E0204
}
