// A uniform pointer to a varying variable: each lane its own element, active lanes only.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? 50 + i : i) : 0)
export void f(uniform int out[]) {
    int v = programIndex;
    varying int * uniform p = &v;
    if (programIndex % 2 == 0) *p = 50 + programIndex;
    out[programIndex] = v;
}
