// Unary `+` gives its operand, of whatever type it is, unless a struct defines it.
//~ run: f(a=[3, 4]) result == -3 + 4 + 7 + 1; out[i] == (i < W ? i * 2 : 0)
struct V2 { float x, y; };
struct W2 { float x, y; };
static uniform W2 operator+(uniform W2 w) { uniform W2 r = { w.x + 7, w.y }; return r; }
static V2 operator-(V2 v) { V2 r = { -v.x, -v.y }; return r; }
export uniform float f(uniform float a[], uniform float out[]) {
    V2 v = { programIndex, programIndex };
    V2 w = +v;
    w = -+-+w;
    out[programIndex] = w.x + (+w).y;
    uniform W2 u = { 0, 0 };
    uniform float * uniform p = +a;
    uniform bool yes = +true;
    return -+p[0] + +p[1] + (+u).x + (yes ? 1 : 0);
}
