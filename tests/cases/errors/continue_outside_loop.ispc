export void f() {
    if (programIndex == 0) continue; //~ error: E0217
}
