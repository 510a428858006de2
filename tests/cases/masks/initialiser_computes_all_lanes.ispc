// The initialiser of a declaration computes all lanes, inactive ones included.
//~ run: f() out[i] == (i < W ? i * 10 : 0)
export void f(uniform int out[]) {
    if (programIndex == 0) {
        int x = programIndex * 10;
        unmasked { out[programIndex] = x; }
    }
}
