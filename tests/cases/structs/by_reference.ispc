// A struct changed through a reference.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? i + 5 : i) : 0)
struct Box { int v; };
static void add(Box &b, int n) { b.v += n; }
export void f(uniform int out[]) {
    Box b = { programIndex };
    if (programIndex % 2 == 0) add(b, 5);
    out[programIndex] = b.v;
}
