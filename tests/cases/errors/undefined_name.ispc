export uniform int f() {
    return missing; //~ error: E0200
}
