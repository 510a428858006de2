// More memory than there may be.
//~ memory: 1000000
//~ run: f(n=100) result == 0
//~ run: f(n=10000000)
//~   trap: out_of_memory
export uniform int f(uniform int64 n) {
    uniform int * uniform p = uniform new uniform int[n];
    uniform int r = p[n - 1];
    delete[] p;
    return r;
}
