template <typename T> uniform int g() { return sizeof(uniform T); }
export uniform int f() {
    return g(); //~ error: E0207
}
