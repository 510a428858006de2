// Braces give every element of every instance; what is left out is zero, and one value holds for all elements.
//~ run: f() x[i] == (i < 4 ? i + 1 : i < 8 ? i + 5 : 0); y[i] == (i < 4 ? i + 5 : i < 8 ? i + 9 : 0)
//~ also: same[i] == (i < 4 ? 7 : i < 8 ? i - 3 : 0); some[i] == (i == 1 ? 9 : 0)
struct P { float x, y; };
export void f(uniform float x[], uniform float y[], uniform float same[], uniform float some[]) {
    soa<4> P p[2] = { { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } }, { { 9, 10, 11, 12 }, { 13, 14, 15, 16 } } };
    foreach (i = 0 ... 8) {
        x[i] = p[i].x;
        y[i] = p[i].y;
    }
    soa<4> P q[1] = { { 7, { 1, 2, 3, 4 } } };
    soa<4> P r[2] = { { { 0, 9, 0, 0 } } };
    foreach (i = 0 ... 4) {
        same[i] = q[i].x;
        same[4 + i] = q[i].y;
        some[i] = r[i].x;
        some[4 + i] = r[4 + i].x + r[i].y;
    }
}
