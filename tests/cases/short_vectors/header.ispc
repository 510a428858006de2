// ISPC's headers for short vectors and its library can be included (twice, too); the functions are there anyway.
//~ run: f() out[0] == 3; out[1] == 4; out[2] == 1; out[3] == 8; out[4] == 5; out[5] == 6; out[6] == 1; out[7] == 0
#include "short_vec.isph"
#include "short_vec.isph"
#include <stdlib.isph>
#include <core.isph>
export void f(uniform float out[]) {
    uniform float<2> a = { -3, 4 };
    uniform float<2> b = abs(a);
    uniform float<2> c = { 1, 8 };
    uniform bool<2> which = { true, false };
    uniform float<2> d = select<float, 2>(which, b + 2, c - 2);
    out[0] = b.x;
    out[1] = b.y;
    out[2] = cbrt(c).x;
    out[3] = cbrt(c * c * c).y;
    out[4] = d.x;
    out[5] = d.y;
    uniform float<2> zero = { 0, 0 };
    out[6] = cosh(zero).x * erfc(zero).y;
    out[7] = sinh(zero).x + tanh(zero).y + expm1(zero).x + log1p(zero).y + erf(zero).x;
}
