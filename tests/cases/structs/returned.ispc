// A struct as a result.
//~ run: f() out[i] == (i < W ? i * i + i : 0)
struct Pair { int a, b; };
static Pair make(int x) {
    Pair p = { x * x, x };
    return p;
}
export void f(uniform int out[]) {
    Pair p = make(programIndex);
    out[programIndex] = p.a + p.b;
}
