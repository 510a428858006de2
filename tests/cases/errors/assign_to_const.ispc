export void f() {
    const uniform int x = 1;
    x = 2; //~ error: E0205
}
