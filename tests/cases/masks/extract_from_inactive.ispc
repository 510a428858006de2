// `extract` reads lanes that are not active.
//~ run: f() result == W - 1
export uniform int f() {
    int x = programIndex;
    uniform int r = -1;
    if (programIndex == 0) r = extract(x, programCount - 1);
    return r;
}
