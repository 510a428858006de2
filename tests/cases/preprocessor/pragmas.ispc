// Pragmas the language knows are no error.
//~ run: f() result == 10
export uniform int f() {
    uniform int n = 0;
    #pragma unroll 4
    for (uniform int k = 0; k < 5; ++k) n += k;
    return n;
}
