// A product over the active lanes.
//~ run: f() result == (W > 1 ? product(k, 0, min(W, 4), k + 1) : 1)
export uniform int f() {
    uniform int r = 0;
    if (programIndex < 4) r = reduce_mul(programIndex + 1);
    return r;
}
