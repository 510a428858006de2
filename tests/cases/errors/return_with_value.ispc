static void g() {
    return 1; //~ error: E0218
}
export void f() { g(); }
