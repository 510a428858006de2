// A varying struct with an array member, a varying index.
//~ run: f() out[i] == (i < W ? i + 10 * (i % 4) : 0)
struct S { int t[4]; };
export void f(uniform int out[]) {
    S s;
    for (uniform int k = 0; k < 4; ++k) s.t[k] = programIndex + 10 * k;
    out[programIndex] = s.t[programIndex % 4];
}
