// The rest of a loop's first lanes is empty on one way to a place and not known on another: two states, not one.
//~ run: f(a=[1,0]) result == 1
uniform int go;
static void body(uniform int a[]) {
    foreach (i = 0 ... 1, j = 0 ... 14) {
        int again;
        do {
            again = 1;
            unmasked { }
        } while (again && *&go);
    }
    a[1] = 1;
}
export uniform int f(uniform int a[]) {
    body(a);
    return a[1];
}
