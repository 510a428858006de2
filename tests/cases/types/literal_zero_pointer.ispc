// The integer zero is a null pointer.
//~ run: f() result == 1
export uniform int f() {
    uniform int * uniform p = 0;
    return p == NULL ? 1 : 0;
}
