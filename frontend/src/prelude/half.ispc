// float16: every mathematical function computes in float and rounds once more, which leaves at most 0.51 ULP of float16.
// The functions are documented where their float forms stand.

#define __HALF_1(NAME) \
    static inline SHAPE float16 NAME(SHAPE float16 x) { return (SHAPE float16)NAME((SHAPE float)x); }
#define __HALF_2(NAME) \
    static inline SHAPE float16 NAME(SHAPE float16 x, SHAPE float16 y) { \
        return (SHAPE float16)NAME((SHAPE float)x, (SHAPE float)y); \
    }
#define __HALF_TEST(NAME, TEST) \
    static inline SHAPE bool NAME(SHAPE float16 x) { SHAPE float v = (SHAPE float)x; return TEST; }

__HALF_TEST(isnan, v != v)
__HALF_TEST(isinf, __op_abs(v) > 65504.0f)
__HALF_TEST(isfinite, __op_abs(v) <= 65504.0f)
static inline SHAPE uint16 signbits(SHAPE float16 x) { return (SHAPE uint16)(__op_bitcast_u16(__op_sign(x))); }
__HALF_2(copysign)
__HALF_1(rcp)
__HALF_1(rsqrt)
__HALF_1(exp)
__HALF_1(exp2)
__HALF_1(expm1)
__HALF_1(log)
__HALF_1(log2)
__HALF_1(log10)
__HALF_1(log1p)
__HALF_1(sin)
__HALF_1(cos)
__HALF_1(tan)
__HALF_1(asin)
__HALF_1(acos)
__HALF_1(atan)
__HALF_2(atan2)
__HALF_2(pow)
__HALF_1(sinh)
__HALF_1(cosh)
__HALF_1(tanh)
__HALF_1(asinh)
__HALF_1(acosh)
__HALF_1(atanh)
__HALF_1(erf)
__HALF_1(erfc)
__HALF_1(cbrt)
__HALF_2(hypot)

static inline void sincos(SHAPE float16 x, SHAPE float16 *uniform sine, SHAPE float16 *uniform cosine) {
    SHAPE float v = (SHAPE float)x;
    *sine = (SHAPE float16)sin(v);
    *cosine = (SHAPE float16)cos(v);
}

static inline SHAPE float16 ldexp(SHAPE float16 x, SHAPE int n) {
    return (SHAPE float16)ldexp((SHAPE float)x, __op_max(__op_min(n, (uniform int)100), (uniform int)-100));
}

static inline SHAPE float16 frexp(SHAPE float16 x, SHAPE int *uniform exponent) {
    SHAPE float fraction = frexp((SHAPE float)x, exponent);
    return (SHAPE float16)fraction;
}

#undef __HALF_1
#undef __HALF_2
#undef __HALF_TEST
