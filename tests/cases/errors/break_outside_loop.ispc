export void f() {
    break; //~ error: E0217
}
