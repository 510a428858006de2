// As parameters and results.
//~ run: f() out[i] == (i < W ? i * i + 4 * i * i : 0)
static int dot(int<2> a, int<2> b) { return a.x * b.x + a.y * b.y; }
static int<2> make(int x) {
    int<2> r = { x, x * 2 };
    return r;
}
export void f(uniform int out[]) {
    int<2> v = make(programIndex);
    out[programIndex] = dot(v, v);
}
