// Assigning a whole struct blends each member.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? 12 : 34) : 0)
struct Pair { int a, b; };
export void f(uniform int out[]) {
    Pair p = { 3, 4 }, q = { 1, 2 };
    if (programIndex % 2 == 0) p = q;
    out[programIndex] = p.a * 10 + p.b;
}
