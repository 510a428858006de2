// A reference to a varying variable: only active lanes change.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? i * 10 : i) : 0)
static void times_ten(int &x) { x *= 10; }
export void f(uniform int out[]) {
    int v = programIndex;
    if (programIndex % 2 == 0) times_ten(v);
    out[programIndex] = v;
}
