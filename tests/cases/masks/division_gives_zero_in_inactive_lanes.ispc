// A division initialises a variable in all lanes: the inactive ones get 0.
//~ run: f() out[i] == (i < W && i % 2 == 1 ? 100 / i : 0)
export void f(uniform int out[]) {
    int d = programIndex;
    if (programIndex % 2 == 1) {
        int q = 100 / d;
        unmasked { out[programIndex] = q; }
    }
}
