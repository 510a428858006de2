export uniform int f() {
    uniform int x = 1;
    return *x; //~ error: E0212
}
