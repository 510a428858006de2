// An operator of a struct and a number.
//~ run: f() out[i] == (i < W ? i * 7 : 0)
struct Box { int v; };
Box operator*(Box b, int n) {
    Box r = { b.v * n };
    return r;
}
export void f(uniform int out[]) {
    Box b = { programIndex };
    Box c = b * 7;
    out[programIndex] = c.v;
}
