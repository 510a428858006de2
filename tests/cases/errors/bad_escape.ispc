export void f() {
    print("\q\n"); //~ error: E0004
}
