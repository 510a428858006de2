export uniform int f() {
    return missing(1); //~ error: E0200
}
