// Lanes return different structs from different places.
//~ run: f() out[i] == (i < W ? (i < 2 ? 11 : i * 10 + 2) : 0)
struct Pair { int a, b; };
static Pair make(int x) {
    Pair p = { 1, 1 };
    if (x < 2) return p;
    p.a = x;
    p.b = 2;
    return p;
}
export void f(uniform int out[]) {
    Pair p = make(programIndex);
    out[programIndex] = p.a * 10 + p.b;
}
