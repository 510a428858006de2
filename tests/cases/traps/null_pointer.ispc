// Reading through null.
//~ run: f()
//~   trap: null_pointer line=here
export uniform int f() {
    uniform int * uniform p = NULL;
    return *p; //~ line: here
}
