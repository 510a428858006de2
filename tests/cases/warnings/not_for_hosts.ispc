// A function that gives an address cannot be called by hosts; it is the program's own, and takes part in it.
//~ run: f() result == 3 + 5
struct Pair { int a, b; };
static uniform Pair pair = { 3, 4 };
export void * uniform handle() { return &pair; }                                //~ warning: W0219
export static uniform int &last(uniform Pair &p) { return p.b; }                //~ warning: W0219
export uniform int f() {
    last(pair) = 5;
    uniform Pair * uniform p = (uniform Pair * uniform)handle();
    return p->a + p->b;
}
