// An element whose index is a constant, of a variable that is used in no other way.
//~ run: f() out[0] == 6; out[1] == 24; out[2] == 6; out[3] == 100
struct P { float x, y, z; };
export void f(uniform float out[]) {
    soa<4> P p[2] = { { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } },
                      { { 13, 14, 15, 16 }, { 17, 18, 19, 20 }, { 21, 22, 23, 24 } } };
    out[0] = p[1].y;
    out[1] = p[7].z;
    soa<4> P q[1] = { { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } } };
    q[1].y = 100;
    out[2] = q[0].x + q[0].y;
    out[3] = q[1].y;
}
