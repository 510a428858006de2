// Functions of short vectors with their template arguments written out.
//~ run: f() out[i] == (i < W ? max(i, 3) * 100 + max(2 * i, 5) : 0); result == 7 + 2 + 4
export uniform int f(uniform int out[]) {
    int<3> a = { programIndex, 2 * programIndex, 0 }, b = { 3, 5, 0 };
    int<3> c = max<int, 3>(a, b);
    out[programIndex] = c.x * 100 + c.y;
    uniform int<2> u = { 7, 1 }, v = { 6, 2 };
    uniform int<2> w = max<uniform int, 2>(u, v);
    uniform float<4> r = sqrt<uniform float, 4>((uniform float<4>)16.0);
    return w.x + w.y + (uniform int)r.w;
}
