// Freeing twice.
//~ run: f()
//~   trap: bad_free
export void f() {
    uniform int * uniform p = uniform new uniform int[4];
    delete[] p;
    delete[] p;
}
