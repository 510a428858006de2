task void g() { }
export void f() {
    g(); //~ error: E0222
}
