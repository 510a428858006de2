// float: the constants, bit fields and minimax polynomials from which real.ispc builds its functions.
//
// The polynomials are near-minimax in relative error with coefficients rounded to float (Brisebarre and Chevillard,
// "Efficient polynomial L-infinity approximations", 2007, as implemented in Sollya's fpminimax). A constant in two parts
// (NAME_1 + NAME_2) is the sum of two floats.

#include "kernel_undef.ispc"

#define REAL float
#define INT int32
#define UINT uint32
#define __ANGLE __FloatAngle
#define __L(literal) literal##f

// Powers with few factors are computed in double.
#define __WHOLE_POWERS

// Fields of the format.
#define __BITS(x) __op_bitcast_i32(x)
#define __UBITS(x) __op_bitcast_u32(x)
#define __FROM_BITS(b) __op_bitcast_f32(b)
#define __MANTISSA_BITS 23
#define __BIAS 127
#define __SIGN_BIT 0x80000000u
#define __SIGN_SHIFT 31
#define __HALF_BITS 0x3f000000u
#define __MANTISSA_MASK 0x007fffffu
#define __INF_BITS 0x7f800000u
#define __MIN_NORMAL_BITS 0x00800000u
#define __SQRT_HALF_BITS 0x3f3504f3
#define __INF __op_bitcast_f32(0x7f800000u)
#define __NAN __op_bitcast_f32(0x7fc00000u)
#define __MAX_FINITE 0x1.fffffep127f
#define __MIN_NORMAL 0x1p-126f
#define __SUBNORMAL_SCALE 0x1p25f
#define __SUBNORMAL_SHIFT 25

// Added to a number, it leaves the nearest whole one in the last digits of the sum.
#define __TO_WHOLE 0x1.8p23f

// Logarithms. LN2 with 14 significant bits in its first part, so that a multiple by an exponent is exact.
#define __LN2_SHORT_1 0x1.62e8p-1f
#define __LN2_SHORT_2 -0x1.e8082ep-16f
#define __LOG10_2_SHORT_1 0x1.344p-2f
#define __LOG10_2_SHORT_2 0x1.3509f8p-18f
#define __LOG10E_1 0x1.bcb7b2p-2f
#define __LOG10E_2 -0x1.5b235ep-27f
#define __LOG2E 0x1.715476p0f
#define __LOG2E_2 0x1.4ae0cp-26f
#define __LN2_1 0x1.62e43p-1f
#define __LN2_2 -0x1.05c61p-29f
#define __THIRD_1 0x1.555556p-2f

// Angles.
#define __TWO_OVER_PI 0x1.45f306p-1f
#define __PIO2_1 0x1.921fb6p0f
#define __PIO2_2 -0x1.777a5cp-25f
// The parts, each cut off, so that none is negative; the second to 19 bits.
#define __PIO2_DOWN_1 0x1.921fb4p0f
#define __PIO2_DOWN_2 0x1.4442cp-24f
#define __PIO2_DOWN_3 0x1.184698p-44f
#define __PI_1 0x1.921fb6p1f
#define __PI_2 -0x1.777a5cp-24f
#define __PIO4_SHORT_1 0x1.921fcp-1f
#define __PIO4_SHORT_2 -0x1.5777a6p-22f
#define __TWO_TO_MINUS_64 0x1p-64f
#define __TRIG_LIMIT 0x1p14f
#define __TRIG_FEW 0x1p3f
#define __TRIG_CANCELLED_FEW 0x1p-30f
#define __TRIG_CANCELLED_MANY 0x1p-20f

// A first approximation of 1/sqrt(x) is this less half of x's bits; see numbers.ispc.
#define __RSQRT_START 0x5f0b4000u
#define __RSQRT_STEP 1.891f
#define __RSQRT_LAST_STEP(x, near, y) SHAPE float y = near;

// Where a function saturates or changes its method.
#define __EXP_OVERFLOW 89.0f
// (There e^x is 2^(-2 bias), the least that __SCALE_BY_TWO takes.)
#define __EXP_LEAST -176.0f
#define __EXP2_NORMAL 125.0f
#define __EXP2_OVERFLOW 128.0f
#define __EXP2_UNDERFLOW -151.0f
#define __EXPM1_IS_EXP 40.0f
#define __EXPM1_IS_MINUS_ONE -25.0f
#define __SINH_OVERFLOW 90.0f
#define __TANH_IS_ONE 10.0f
#define __ERF_IS_ONE 4.0f
#define __ERFC_NORMAL 9.0f
#define __ERFC_IS_ZERO 10.1f
#define __ERFCX_K 2.0f
#define __ERFCX_C0_1 0x1.46e80ep0f
#define __ERFCX_C0_2 0x1.0fddap-27f
#define __TWO_OVER_SQRT_PI_1 0x1.20dd76p0f
#define __TWO_OVER_SQRT_PI_2 -0x1.f7ac92p-25f
#define __HYPOT_SMALL 0x1p-40f
#define __HYPOT_LARGE 0x1p60f
#define __ASINH_LIMIT 0x1p30f
#define __ASINH_IS_X 0x1p-20f
#define __SCALE_UP 0x1p75f
#define __SCALE_DOWN 0x1p-75f
#define __CBRT_SCALE_UP_ROOT 0x1p25f
#define __CBRT_SCALE_DOWN_ROOT 0x1p-25f
#define __CBRT_GUESS(x) __op_bitcast_f32(__op_mulhi(__op_bitcast_u32(x), 0x55555556u) + 709958130u)

// The part of log(1+f) beyond f, for sqrt(1/2) <= 1+f <= sqrt(2), in the variable c.
#define __LOG_TAIL(f, c) \
    SHAPE float c##2 = f * f; \
    SHAPE float c = __op_fma(c##2 * f, __LOG_P(f), -0.5f * c##2);
// e ln 2 + f + c in the variable y. The rounding of f + c may show: it is half a unit of the result at most.
#define __LOG_TOTAL(e, f, c, y) SHAPE float y = __op_fma(e, __LN2_1, (f) + (c));
// log(1+f) as w + wl, more exactly: log2 has no room for the rounding of f^2/2.
#define __LOG_SUM(f, w, wl) \
    SHAPE float w##2 = f * f; \
    SHAPE float w##h = 0.5f * w##2; \
    SHAPE float w = f - w##h; \
    SHAPE float w##e = __op_fma(-0.5f, __op_fma(f, f, -w##2), (f - w) - w##h); \
    SHAPE float wl = __op_fma(w##2 * f, __LOG_P(f), w##e);

// (exp(r) - 1 - r - r^2/2) / r^3 for |r| <= ln(2)/2
#define __EXP_C(r) \
    __HORNER5(r, 0x1.555554p-3f, 0x1.5554fp-5f, 0x1.111306p-7f, 0x1.6d43c2p-10f, 0x1.9e0de4p-13f)
// (2^r - 1 - r ln 2) / r^2 for |r| <= 1/2
#define __EXP2_Q(r) \
    __HORNER5(r, 0x1.ebfbdcp-3f, 0x1.c6af88p-5f, 0x1.3b2ddcp-7f, 0x1.5f041ap-10f, 0x1.416f8cp-13f)
// (log(1+f) - f + f^2/2) / f^3 for sqrt(1/2) <= 1+f <= sqrt(2)
#define __LOG_P(f) \
    __HORNER10(f, 0x1.555556p-2f, -0x1.fffff2p-3f, 0x1.9998e4p-3f, -0x1.555c42p-3f, 0x1.24b388p-3f, -0x1.fe25b2p-4f, \
        0x1.c0da48p-4f, -0x1.affb84p-4f, 0x1.bf3c82p-4f, -0x1.18cd92p-4f)
// (sin(x) - x) / x^3, z = x^2, for |x| <= pi/4
#define __SIN_P(z) \
    __HORNER4(z, -0x1.555556p-3f, 0x1.11116p-7f, -0x1.a0435ap-13f, 0x1.766832p-19f)
// (cos(x) - 1 + x^2/2) / x^4, z = x^2, for |x| <= pi/4
#define __COS_P(z) \
    __HORNER3(z, 0x1.555548p-5f, -0x1.6c0afap-10f, 0x1.9993e6p-16f)
// (asin(x) - x) / x^3, z = x^2, for |x| <= 1/2
#define __ASIN_P(z) \
    __HORNER5(z, 0x1.5555c8p-3f, 0x1.330206p-4f, 0x1.747b72p-5f, 0x1.8c415ap-6f, 0x1.5959aap-5f)
// (atan(x) - x) / x^3, z = x^2, for |x| <= 1/2
#define __ATAN_P(z) \
    __HORNER6(z, -0x1.555552p-2f, 0x1.999744p-3f, -0x1.24503p-3f, 0x1.c07266p-4f, -0x1.480d2ep-4f, 0x1.3fd504p-5f)
// (sinh(x) - x) / x^3, z = x^2, for |x| <= 1
#define __SINH_P(z) \
    __HORNER4(z, 0x1.555556p-3f, 0x1.1110eap-7f, 0x1.a01c22p-13f, 0x1.76771ep-19f)
// (tanh(x) - x) / x^3, z = x^2, for |x| <= 0.6
#define __TANH_P(z) \
    __HORNER6(z, -0x1.555554p-2f, 0x1.11108cp-3f, -0x1.b9f766p-5f, 0x1.63f936p-6f, -0x1.0e50e2p-7f, 0x1.225e3ap-9f)
// (erf(x) - 2/sqrt(pi) x) / x^3, z = x^2, for |x| <= 1
#define __ERF_P(z) \
    __HORNER7(z, -0x1.812746p-2f, 0x1.ce2efp-4f, -0x1.b827a2p-6f, 0x1.5613b6p-8f, -0x1.bbd728p-11f, 0x1.d33436p-14f, \
        -0x1.38c804p-17f)
// ((1+2x) exp(x^2) erfc(x) - c0) / q, q = (x-K)/(x+K), for x >= 0.45
#define __ERFCX_P(q) \
    __HORNER10(q, -0x1.7bf5e8p-4f, -0x1.5407bcp-3f, 0x1.4ff9bcp-3f, -0x1.bc2c94p-5f, -0x1.06ee9ep-7f, 0x1.1deffcp-7f, \
        0x1.3e8036p-10f, -0x1.80459p-10f, -0x1.451d6p-12f, 0x1.bbd476p-13f)
// ((1+u)^(-1/3) - 1) / u for |u| <= 0.1
#define __CBRT_P(u) \
    __HORNER5(u, -0x1.555556p-2f, 0x1.c719e8p-3f, -0x1.61f51ap-3f, 0x1.2a2c62p-3f, -0x1.03474ep-3f)
// In double, for powers: log2(1+f) / f for sqrt(1/2) <= 1+f <= sqrt(2), and 2^r for |r| <= 1/2.
#define __POW_LOG2_G(f) \
    __HORNER12(f, 0x1.71547652ef953p0d, -0x1.7154767baebeap-1d, 0x1.ec709c00f041p-2d, -0x1.715435eb9db4fp-2d, \
        0x1.277732ce685f2p-2d, -0x1.ec8d73d344953p-3d, 0x1.a615cb536bdd5p-3d, -0x1.6eb02b30a52cdp-3d, \
        0x1.45a292dfe3b3p-3d, -0x1.417fe988d5c7cp-3d, 0x1.3d25f58f979p-3d, -0x1.61ac61dbf147dp-4d)
#define __POW_TO_EXPONENT (0x1.8p52d + 1023.0d)
#define __POW_EXP2(r) \
    __HORNER7(r, 0x1.0000000261508p0d, 0x1.62e430c7e92d5p-1d, 0x1.ebfbdadcb1701p-3d, 0x1.c6aed4b946d84p-5d, \
        0x1.3b2dbbc066705p-7d, 0x1.5f456a8ef562dp-10d, 0x1.41d333d34ccd5p-13d)
