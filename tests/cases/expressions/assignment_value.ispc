// An assignment is an expression: its value is what was assigned.
//~ run: f() out[i] == i < W ? i + 3 : 0
export void f(uniform int out[]) {
    int a, b, c;
    a = b = c = programIndex + 1;
    out[programIndex] = a + (b = 2) + (c - c);
}
