export void f() {
    void x; //~ error: E0235
}
