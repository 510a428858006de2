// Structs are copied: the callee changes its own.
//~ run: f() result == 1
struct Pair { int a, b; };
static uniform int spoil(uniform Pair p) {
    p.a = 99;
    return p.a;
}
export uniform int f() {
    uniform Pair p = { 1, 2 };
    spoil(p);
    return p.a;
}
