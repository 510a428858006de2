// Braces give the members in order; the rest is zero.
//~ run: f() out[i] == (i == 0 ? 1 : i == 1 ? 2 : 0)
struct S { int a, b, c; };
export void f(uniform int out[]) {
    uniform S s = { 1, 2 };
    out[0] = s.a;
    out[1] = s.b;
    out[2] = s.c;
}
