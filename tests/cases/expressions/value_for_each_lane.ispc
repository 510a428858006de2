// Braces with one value per lane: for a variable, an element of an array, a member, a component, an argument of a function.
//~ widths: 4
//~ run: f(k=10) a[i] == (i < 4 ? (i + 1) * (i + 1) : 0); b[i] == (i < 4 ? 10 + i : 0); c[i] == (i < 4 ? 4 - i : 0); d[i] == (i < 4 ? 2 * i : 0)
//~ also: e[i] == (i < 4 ? 100 + i : i < 8 ? i % 2 : 0)
struct P { float x, y; };
static int table = { 100, 101, 102, 103 };
export void f(uniform int k, uniform float a[], uniform float b[], uniform float c[], uniform float d[], uniform int e[]) {
    float one = { 1, 4, 9, 16 };
    a[programIndex] = one;
    float some[] = { 2, { k, k + 1, k + 2, k + 3 }, -1 };
    b[programIndex] = some[1];
    varying P p = { 2, { 4, 3, 2, 1 } };
    c[programIndex] = p.y;
    varying float<2> v = { { 0, 2, 4, 6 }, 2 };
    d[programIndex] = v.x;
    bool odd = { false, true, false, true };
    e[programIndex] = table;
    e[4 + programIndex] = odd ? 1 : 0;
}
