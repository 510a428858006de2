// An array as a member.
//~ run: f() out[i] == (i < 4 ? i * i : i == 4 ? 9 : 0)
struct S { int t[4]; int n; };
export void f(uniform int out[]) {
    uniform S s;
    s.n = 9;
    for (uniform int k = 0; k < 4; ++k) s.t[k] = k * k;
    for (uniform int k = 0; k < 4; ++k) out[k] = s.t[k];
    out[4] = s.n;
}
