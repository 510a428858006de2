// A comparison of structs as a condition.
//~ run: f() out[i] == (i < W && i < 3)
struct Box { int v; };
bool operator<(Box x, Box y) { return x.v < y.v; }
export void f(uniform int out[]) {
    Box a = { programIndex }, b = { 3 };
    if (a < b) out[programIndex] = 1;
}
