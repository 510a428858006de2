// Fresh memory is zero.
//~ run: f() result == 0
export uniform int f() {
    uniform int * uniform p = uniform new uniform int[100];
    uniform int r = p[57];
    p[57] = 5;
    delete[] p;
    p = uniform new uniform int[100];
    r += p[57];
    delete[] p;
    return r;
}
