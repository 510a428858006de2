// Assignments to a varying global are masked.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? 5 : 0) : 0)
int g;
export void f(uniform int out[]) {
    g = 0;
    if (programIndex % 2 == 0) g = 5;
    out[programIndex] = g;
}
