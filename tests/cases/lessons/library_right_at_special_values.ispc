// log, exp and pow at infinities, NaN, zeros and negatives, as C's Annex F has them.
//~ run: f(x=[inf, -inf, nan, 0.0, -0.0, -1.0, 1.0, 1000.0], e=[1.0, 3.0, 2.0, -1.0, -3.0, 2.0, 0.0, 1000.0]) result == 1
//~ also: l[0] == inf; l[1] == nan; l[2] == nan; l[3] == -inf; l[4] == -inf; l[5] == nan; l[6] == 0.0
//~ also: x2[0] == inf; x2[1] == 0.0; x2[2] == nan; x2[3] == 1.0; x2[4] == 1.0; x2[6] == f32(2.718281828459045); x2[7] == inf
//~ also: p[0] == inf; p[1] == -inf; p[2] == nan; p[3] == inf; p[4] == -inf; p[5] == 1.0; p[6] == 1.0; p[7] == inf
export uniform int f(uniform float x[], uniform float e[], uniform float l[], uniform float x2[], uniform float p[]) {
    foreach (i = 0 ... 8) {
        l[i] = log(x[i]);
        x2[i] = exp(x[i]);
        p[i] = pow(x[i], e[i]);
    }
    return pow((uniform float)-2, (uniform float)3) == -8 && pow((uniform double)-2, (uniform double)-3) == -0.125d;
}
