// A varying function pointer: each function is called for its lanes.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? i * 2 : i * i) : 0)
static int twice(int x) { return x * 2; }
static int square(int x) { return x * x; }
export void f(uniform int out[]) {
    int (*g)(int) = twice;
    if (programIndex % 2 == 1) g = square;
    out[programIndex] = g(programIndex);
}
