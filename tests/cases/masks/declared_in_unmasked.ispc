// An `unmasked` block opens no scope: what it declares is seen after it, in all lanes as it was written.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? -1 : 0) : 0); n[0] == 3; n[1] == 12
struct Outer { int x; };
export void f(uniform int out[], uniform int n[]) {
    if (programIndex % 2 == 0) {
        varying bool mask = __mask;
        unmasked {
            varying int imask = mask ? -1 : 0;
            uniform int count = 0;
            uniform int list[3] = { 3, 4, 5 };
            typedef uniform int Small;
            const uniform int size = 3;
        }
        unmasked { out[programIndex] = imask; }     //~ warning: W0218
        Small sum = 0;
        for (uniform int k = 0; k < size; ++k) sum += list[k];
        n[0] = ++count + 2;
        imask = 7;
        unmasked { assert(imask == (mask ? 7 : 0)); }
        n[1] = sum;
    }
}
//~ run: hides() result == 2 * 10 + 1
// The name of the enclosing scope counts; one from further outside is hidden, as in ISPC.
export uniform int hides() {
    uniform int x = 1, y = 5;
    unmasked { uniform int x = 2; y = x - 1; }
    uniform int seen = x * y;
    {
        unmasked { uniform int y = 2; }
        seen += y * 10;
    }
    return seen;
}
//~ run: again() result == 5
// Blocks after one another may declare one name each, and so may the scope itself.
export uniform int again() {
    unmasked { uniform int t = 1; }
    unmasked { uniform int t = 4; }
    uniform int first = t;
    uniform int t = 1;
    return first + t;
}
//~ run: left(a=[1, 0, 0, 1]) out[i] == (i < W ? (i < 4 && a[i] == 1 ? 9 : 5) : 0)
// Lanes that skip the declaration because they returned in a loop before it find zero; here all come to it.
export void left(uniform int a[], uniform int out[]) {
    for (uniform int k = 0; k < 2; ++k) {
        unmasked { int v = 4 + k; }
        if (programIndex < 4) if (a[programIndex] == 1) v = 9;
        out[programIndex] = v;
    }
}
