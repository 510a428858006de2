// ++ before and after.
//~ run: f() result == 5 * 100 + 6 * 10 + 7
struct Box { int v; };
uniform Box operator++(uniform Box &b) {
    b.v += 1;
    return b;
}
uniform Box operator++(uniform Box &b, int) {
    uniform Box old = b;
    b.v += 1;
    return old;
}
export uniform int f() {
    uniform Box b = { 5 };
    uniform Box old = b++;
    uniform int between = b.v;
    uniform Box now = ++b;
    return old.v * 100 + between * 10 + now.v;
}
