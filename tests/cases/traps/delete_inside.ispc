// Freeing something that is not the start of an allocation.
//~ run: f()
//~   trap: bad_free
export void f() {
    uniform int * uniform p = uniform new uniform int[4];
    delete[] (p + 1);
}
