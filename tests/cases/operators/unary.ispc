// Negation of a struct.
//~ run: f() out[i] == (i < W ? -i : 0)
struct Box { int v; };
Box operator-(Box x) {
    Box r = { -x.v };
    return r;
}
export void f(uniform int out[]) {
    Box a = { programIndex };
    a = -a;
    out[programIndex] = a.v;
}
