//~ run: f() result == 44
export uniform int8 f() {
    uniform int8 x = 300; //~ warning: W0209
    return x;
}
