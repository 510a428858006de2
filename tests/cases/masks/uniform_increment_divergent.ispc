// Each branch that has lanes increments once.
//~ run: f() result == (W > 1 ? 11 : 1)
export uniform int f() {
    uniform int n = 0;
    if (programIndex % 2 == 0) n += 1;
    else n += 10;
    return n;
}
