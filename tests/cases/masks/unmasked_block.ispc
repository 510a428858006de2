// `unmasked` turns all lanes on and restores the mask afterwards.
//~ run: f() all[i] == (i < W); some[i] == (i < W && i == 1)
export void f(uniform int all[], uniform int some[]) {
    if (programIndex == 1) {
        unmasked { all[programIndex] = 1; }
        some[programIndex] = 1;
    } else {
        if (programCount == 1) all[0] = 1;
    }
}
