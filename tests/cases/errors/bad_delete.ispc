export void f() {
    uniform int n = 1;
    delete n; //~ error: E0232
}
