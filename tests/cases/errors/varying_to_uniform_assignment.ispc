export void f() {
    uniform int x;
    int v = 3 * programIndex;
    x = v; //~ error: E0203
}
