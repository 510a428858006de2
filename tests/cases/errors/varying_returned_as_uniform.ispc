static uniform int g() {
    return programIndex; //~ error: E0203
}
export uniform int f() { return g(); }
