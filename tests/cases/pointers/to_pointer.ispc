// A pointer to a pointer.
//~ run: f(a=iota:8) result == 5
export uniform int f(uniform int a[]) {
    uniform int * uniform p = a;
    uniform int * uniform * uniform pp = &p;
    *pp = a + 5;
    return *p;
}
