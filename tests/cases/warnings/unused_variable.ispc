//~ run: f() result == 1
export uniform int f() {
    uniform int never = 3; //~ warning: W0200
    return 1;
}
