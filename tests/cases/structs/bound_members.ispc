// A member declared uniform stays uniform in a varying struct.
//~ run: f() result == 7; out[i] == (i < W ? i : 0)
struct S { uniform int u; int v; };
export uniform int f(uniform int out[]) {
    S s;
    s.u = 7;
    s.v = programIndex;
    out[programIndex] = s.v;
    return s.u;
}
