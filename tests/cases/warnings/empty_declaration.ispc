// A declaration without a name declares nothing, and does no harm.
//~ run: f() result == 1
uniform;                                 //~ warning: W0006; warning: W0010
export uniform int f() {
    int;                                 //~ warning: W0010
    return 1;
}
