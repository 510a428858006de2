export void f() {
    print("% %\n", 1); //~ error: E0227
}
