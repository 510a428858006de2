static uniform int g() {
    return; //~ error: E0218
}
export uniform int f() { return g(); }
