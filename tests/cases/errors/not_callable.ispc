export uniform int f() {
    uniform int x = 1;
    return x(2); //~ error: E0209
}
