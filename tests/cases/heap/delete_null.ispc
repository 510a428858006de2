// Deleting null does nothing.
//~ run: f() result == 1
export uniform int f() {
    uniform int * uniform p = NULL;
    delete p;
    return 1;
}
