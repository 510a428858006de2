// A function is not called under an empty mask: this one would never end.
//~ run: f() result == 1
static int forever(int x) { return forever(x + 1); }
export uniform int f() {
    int x = 0;
    if (programIndex < 0) x = forever(x);
    return 1;
}
