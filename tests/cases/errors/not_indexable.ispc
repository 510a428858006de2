export uniform int f() {
    uniform int x = 1;
    return x[0]; //~ error: E0211
}
