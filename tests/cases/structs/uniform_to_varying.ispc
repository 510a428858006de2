// A uniform struct becomes a varying one.
//~ run: f() out[i] == (i < W ? 30 + i : 0)
struct Pair { int a, b; };
export void f(uniform int out[]) {
    uniform Pair u = { 10, 20 };
    Pair v = u;
    v.a += programIndex;
    out[programIndex] = v.a + v.b;
}
