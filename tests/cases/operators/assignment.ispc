// A compound assignment, under a mask.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? i + 7 : i) : 0)
struct Box { int v; };
Box &operator+=(Box &x, int n) {
    x.v += n;
    return x;
}
export void f(uniform int out[]) {
    Box a = { programIndex };
    if (programIndex % 2 == 0) a += 7;
    out[programIndex] = a.v;
}
