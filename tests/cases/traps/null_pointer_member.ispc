// A member of what null points to.
//~ run: f()
//~   trap: null_pointer
struct S { int a, b; };
export uniform int f() {
    uniform S * uniform p = NULL;
    return p->b;
}
