export void f() {
    unsigned char c; //~ error: E0110
}
