task void g() { }
export void f() {
    launch 5; //~ error: E0112
}
