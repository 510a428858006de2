// Scalars of every type as arguments and result.
//~ run: f(a=-1, b=-2, c=-3, d=-4, e=5, g=6, h=7, k=8, x=0.5, y=0.25, t=true) result == -10.0 + 26.0 + 0.75 + 1.0
export uniform double f(uniform int8 a, uniform int16 b, uniform int c, uniform int64 d, uniform uint8 e,
                        uniform uint16 g, uniform uint32 h, uniform uint64 k, uniform float x, uniform double y,
                        uniform bool t) {
    uniform double signed_sum = (double)a + (double)b + (double)c + (double)d;
    uniform double unsigned_sum = (double)e + (double)g + (double)h + (double)k;
    return signed_sum + unsigned_sum + x + y + (t ? 1 : 0);
}
