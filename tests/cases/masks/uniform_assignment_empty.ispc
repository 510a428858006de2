// An assignment to a uniform variable under an empty mask does not happen.
//~ run: f() result == 1
export uniform int f() {
    uniform int n = 1;
    if (programIndex > 1000) n = 2;
    return n;
}
