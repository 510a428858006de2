//~ run: f() result == 1
export uniform int f() {
    return 1;
    uniform int n = 2; //~ warning: W0201
}
