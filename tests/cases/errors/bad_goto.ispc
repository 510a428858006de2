export void f() {
    goto nowhere; //~ error: E0220
}
