static void g() { }
export void f() {
    launch g(); //~ error: E0222
}
