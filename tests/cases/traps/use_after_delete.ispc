// Memory that was freed is gone.
//~ run: f()
//~   trap: bad_pointer line=here
export uniform int f() {
    uniform int * uniform p = uniform new uniform int[4];
    delete[] p;
    return p[0]; //~ line: here
}
