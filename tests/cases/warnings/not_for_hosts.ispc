// A function that hosts cannot call is the program's own, and takes part in it.
//~ run: f() result == 3 + 4
struct Pair { int a, b; };
static uniform Pair pair;
export static uniform Pair made(uniform int a) {            //~ warning: W0219
    uniform Pair p = { a, a + 1 };
    return p;
}
export void * uniform handle() { return &pair; }            //~ warning: W0219
export uniform int sum_of(uniform Pair p, uniform int<3> v) { return p.a + p.b + v.x; } //~ warning: W0219
export uniform int f() {
    pair = made(3);
    return sum_of(*(uniform Pair * uniform)handle(), 0);
}
