//~ run: f() result == 1
__attribute__((deprecated)) static uniform int old() { return 1; }
export uniform int f() {
    return old(); //~ warning: W0206
}
