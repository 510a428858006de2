// The unbound members of a varying struct are varying.
//~ run: f() out[i] == (i < W ? i * 3 : 0)
struct Pair { int a, b; };
export void f(uniform int out[]) {
    Pair p;
    p.a = programIndex;
    p.b = programIndex * 2;
    out[programIndex] = p.a + p.b;
}
