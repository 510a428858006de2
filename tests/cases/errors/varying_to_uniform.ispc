export void f() {
    uniform int x = programIndex; //~ error: E0203
}
