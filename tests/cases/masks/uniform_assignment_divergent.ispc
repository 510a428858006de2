// With at least one active lane it happens, once; later ones win.
//~ run: f() result == (W > 1 ? 2 : 1)
export uniform int f() {
    uniform int n = 0;
    if (programIndex == 0) n = 1;
    else n = 2;
    return n;
}
