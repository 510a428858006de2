export void f() {
    else { } //~ error: E0111
}
