// A struct in a struct, with nested initialisers.
//~ run: f() result == 1234
struct In { int x, y; };
struct Out { In p; int z; In q[1]; };
export uniform int f() {
    uniform Out o = { { 1, 2 }, 3, { { 4, 5 } } };
    return o.p.x * 1000 + o.p.y * 100 + o.z * 10 + o.q[0].x;
}
