// An operator for structs.
//~ run: f() out[i] == (i < W ? i * 2 * 10 + 3 : 0)
struct Pair { int a, b; };
Pair operator+(Pair x, Pair y) {
    Pair r = { x.a + y.a, x.b + y.b };
    return r;
}
export void f(uniform int out[]) {
    Pair p = { programIndex, 1 }, q = { programIndex, 2 };
    Pair s = p + q;
    out[programIndex] = s.a * 10 + s.b;
}
