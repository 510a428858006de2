// Assignment to one component is masked.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? 9 : 2) : 0)
export void f(uniform int out[]) {
    int<2> a = { 1, 2 };
    if (programIndex % 2 == 0) a.y = 9;
    out[programIndex] = a.y;
}
