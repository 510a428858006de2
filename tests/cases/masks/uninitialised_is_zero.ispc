// A variable without an initialiser is zero in every lane.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? 5 : 0) : 0)
export void f(uniform int out[]) {
    int x;
    if (programIndex % 2 == 0) x = 5;
    out[programIndex] = x;
}
