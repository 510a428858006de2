// double: the constants, bit fields and minimax polynomials from which real.ispc builds its functions. See float_kernel.ispc.

#include "kernel_undef.ispc"

#define REAL double
#define INT int64
#define UINT uint64
#define __ANGLE __DoubleAngle
#define __L(literal) literal##d

// Fields of the format.
#define __BITS(x) __op_bitcast_i64(x)
#define __UBITS(x) __op_bitcast_u64(x)
#define __FROM_BITS(b) __op_bitcast_f64(b)
#define __MANTISSA_BITS 52
#define __BIAS 1023
#define __SIGN_BIT 0x8000000000000000ull
#define __SIGN_SHIFT 63
#define __HALF_BITS 0x3fe0000000000000ull
#define __MANTISSA_MASK 0x000fffffffffffffull
#define __INF_BITS 0x7ff0000000000000ull
#define __MIN_NORMAL_BITS 0x0010000000000000ull
#define __SQRT_HALF_BITS 0x3fe6a09e667f3bcdll
#define __INF __op_bitcast_f64(0x7ff0000000000000ull)
#define __NAN __op_bitcast_f64(0x7ff8000000000000ull)
#define __MAX_FINITE 0x1.fffffffffffffp1023d
#define __MIN_NORMAL 0x1p-1022d
#define __SUBNORMAL_SCALE 0x1p54d
#define __SUBNORMAL_SHIFT 54

// Added to a number, it leaves the nearest whole one in the last digits of the sum.
#define __TO_WHOLE 0x1.8p52d

// Logarithms. LN2 with 40 significant bits in its first part, so that a multiple by an exponent is exact.
#define __LN2_SHORT_1 0x1.62e42fefa4p-1d
#define __LN2_SHORT_2 -0x1.8432a1b0e2634p-43d
#define __LOG10_2_SHORT_1 0x1.34413509f8p-2d
#define __LOG10_2_SHORT_2 -0x1.80433b83b532ap-44d
#define __LOG10E_1 0x1.bcb7b1526e50ep-2d
#define __LOG10E_2 0x1.95355baaafad3p-57d
#define __LOG2E 0x1.71547652b82fep0d
#define __LOG2E_2 0x1.777d0ffda0d24p-56d
#define __LN2_1 0x1.62e42fefa39efp-1d
#define __LN2_2 0x1.abc9e3b39803fp-56d
#define __THIRD_1 0x1.5555555555555p-2d
#define __THIRD_2 0x1.5555555555555p-56d

// Angles.
#define __TWO_OVER_PI 0x1.45f306dc9c883p-1d
#define __PIO2_1 0x1.921fb54442d18p0d
#define __PIO2_2 0x1.1a62633145c07p-54d
// The parts, each cut off, so that none is negative; the second to 43 bits.
#define __PIO2_DOWN_1 0x1.921fb54442d18p0d
#define __PIO2_DOWN_2 0x1.1a62633145cp-54d
#define __PIO2_DOWN_3 0x1.b839a252049c1p-104d
#define __PI_1 0x1.921fb54442d18p1d
#define __PI_2 0x1.1a62633145c07p-53d
#define __PIO4_SHORT_1 0x1.921fb54442d2p-1d
#define __PIO4_SHORT_2 -0x1.ee59d9cceba4p-51d
#define __TWO_TO_MINUS_64 0x1p-64d
#define __TRIG_LIMIT 0x1p30d
#define __TRIG_FEW 0x1p8d
#define __TRIG_CANCELLED_FEW 0x1p-64d
#define __TRIG_CANCELLED_MANY 0x1p-49d

// A first approximation of 1/sqrt(x) is this less half of x's bits; see numbers.ispc.
#define __RSQRT_START 0x5fe1680000000000ull
#define __RSQRT_STEP 1.891d
#define __RSQRT_LAST_STEP(x, near, y) \
    SHAPE double y = __op_fma((near) * __op_fma(-((x) * (near)), near, 1.0d), 0.5d, near);

// Where a function saturates or changes its method.
#define __EXP_OVERFLOW 710.0d
#define __EXP_LEAST -1418.0d
#define __EXP2_NORMAL 1021.0d
#define __EXP2_OVERFLOW 1024.0d
#define __EXP2_UNDERFLOW -1076.0d
#define __EXPM1_IS_EXP 100.0d
#define __EXPM1_IS_MINUS_ONE -60.0d
#define __SINH_OVERFLOW 711.0d
#define __TANH_IS_ONE 22.0d
#define __ERF_IS_ONE 6.0d
#define __ERFC_NORMAL 26.0d
#define __ERFC_IS_ZERO 27.3d
#define __ERFCX_K 4.0d
#define __ERFCX_C0_1 0x1.3ba5916e9fd7fp0d
#define __ERFCX_C0_2 -0x1.a3aed24c96acap-55d
#define __TWO_OVER_SQRT_PI_1 0x1.20dd750429b6dp0d
#define __TWO_OVER_SQRT_PI_2 0x1.1ae3a914fed8p-56d
#define __HYPOT_SMALL 0x1p-400d
#define __HYPOT_LARGE 0x1p500d
#define __ASINH_LIMIT 0x1p100d
#define __ASINH_IS_X 0x1p-40d
#define __SCALE_UP 0x1p600d
#define __SCALE_DOWN 0x1p-600d
#define __CBRT_SCALE_UP_ROOT 0x1p200d
#define __CBRT_SCALE_DOWN_ROOT 0x1p-200d
#define __CBRT_GUESS(x) __op_bitcast_f64( \
    (SHAPE uint64)(__op_mulhi((SHAPE uint32)(__op_bitcast_u64(x) >> 32), 0x55555556u) + 715094163u) << 32)

// The part of log(1+f) beyond f, for sqrt(1/2) <= 1+f <= sqrt(2), in the variable c: with s = f/(2+f),
// log(1+f) = f - (f^2/2 - s (f^2/2 + R(s^2))).
#define __LOG_TAIL(f, c) \
    SHAPE double c##s = f / (2.0d + f); \
    SHAPE double c##z = c##s * c##s; \
    SHAPE double c##h = 0.5d * f * f; \
    SHAPE double c = __op_fma(c##s, __op_fma(c##z + c##z, __ATANH_A(c##z), c##h), -c##h);
// e ln 2 + f + c in the variable y, with the errors of the sums: c is less exact than that of float.
#define __LOG_TOTAL(e, f, c, y) \
    SHAPE double y##a = (e) * __LN2_SHORT_1; \
    SHAPE double y##s = y##a + (f); \
    SHAPE double y##l = (f) - (y##s - y##a); \
    SHAPE double y = y##s + (y##l + __op_fma(e, __LN2_SHORT_2, c));
// log(1+f) as w + wl, more exactly: log2 has no room for the rounding of f^2/2.
#define __LOG_SUM(f, w, wl) \
    SHAPE double w##s = f / (2.0d + f); \
    SHAPE double w##z = w##s * w##s; \
    SHAPE double w##half = 0.5d * f; \
    SHAPE double w##h = w##half * f; \
    SHAPE double w = f - w##h; \
    SHAPE double w##e = ((f - w) - w##h) - __op_fma(w##half, f, -w##h); \
    SHAPE double wl = __op_fma(w##s, __op_fma(w##z + w##z, __ATANH_A(w##z), w##h), w##e);

// (exp(r) - 1 - r - r^2/2) / r^3 for |r| <= ln(2)/2
#define __EXP_C(r) \
    __HORNER11(r, 0x1.5555555555555p-3d, 0x1.5555555555557p-5d, 0x1.1111111111304p-7d, 0x1.6c16c16c15765p-10d, \
        0x1.a01a019f19c1cp-13d, 0x1.a01a01ab2340cp-16d, 0x1.71de3e160e3fdp-19d, 0x1.27e4d112430e9p-22d, \
        0x1.ae572cb484a3fp-26d, 0x1.1f84480170aaep-29d, 0x1.72e3c6069e0acp-33d)
// (2^r - 1 - r ln 2) / r^2 for |r| <= 1/2
#define __EXP2_Q(r) \
    __HORNER12(r, 0x1.ebfbdff82c58fp-3d, 0x1.c6b08d704a0c2p-5d, 0x1.3b2ab6fba4d83p-7d, 0x1.5d87fe78a59fcp-10d, \
        0x1.430912f8a81b8p-13d, 0x1.ffcbfc5ee589ap-17d, 0x1.62c0216831036p-20d, 0x1.b52526bb61e4cp-24d, \
        0x1.e4d1efd0520c6p-28d, 0x1.e9155ee1d386p-32d, 0x1.c0fa743157a8dp-36d, 0x1.23af5a254aa32p-40d)
// (atanh(s) - s) / s^3, z = s^2, for |s| <= 0.1716
#define __ATANH_A(z) \
    __HORNER8(z, 0x1.5555555555555p-2d, 0x1.9999999999d1p-3d, 0x1.249249243988ap-3d, 0x1.c71c724b704f8p-4d, \
        0x1.745ce1bf79acbp-4d, 0x1.3b2027187551ep-4d, 0x1.0f66f5655d1eap-4d, 0x1.0f1144b183c9fp-4d)
// (atanh(s) - s - s^3/3) / s^5, z = s^2, for |s| <= 0.1716
#define __ATANH_B(z) \
    __HORNER9(z, 0x1.999999999999ap-3d, 0x1.249249249238ap-3d, 0x1.c71c71c73ed7dp-4d, 0x1.745d17328977dp-4d, \
        0x1.3b13b7b6adf72p-4d, 0x1.110fb3835fa49p-4d, 0x1.e23e6eeb28235p-5d, 0x1.a7be13ddf5a65p-5d, \
        0x1.d8a381df6ac23p-5d)
// (sin(x) - x) / x^3, z = x^2, for |x| <= pi/4
#define __SIN_P(z) \
    __HORNER7(z, -0x1.5555555555555p-3d, 0x1.111111111108bp-7d, -0x1.a01a01a006dbp-13d, 0x1.71de3a401fe54p-19d, \
        -0x1.ae643d50495f2p-26d, 0x1.6114b01f5956bp-33d, -0x1.a562bbe168c4cp-41d)
// (cos(x) - 1 + x^2/2) / x^4, z = x^2, for |x| <= pi/4
#define __COS_P(z) \
    __HORNER6(z, 0x1.555555555554bp-5d, -0x1.6c16c16c1500cp-10d, 0x1.a01a019c8d949p-16d, -0x1.27e4f7f008783p-22d, \
        0x1.1ee9da88f4795p-29d, -0x1.8fa5c165deabcp-37d)
// (asin(x) - x) / x^3, z = x^2, for |x| <= 1/2
#define __ASIN_P(z) \
    __HORNER13(z, 0x1.5555555555577p-3d, 0x1.333333332e133p-4d, 0x1.6db6db721247bp-5d, 0x1.f1c71a95002fbp-6d, \
        0x1.6e8bdedebf9e1p-6d, 0x1.1c49f077d5b5ap-6d, 0x1.ca1f8af1f1d9ap-7d, 0x1.75859dacf6aedp-7d, \
        0x1.613c1e6f4a2fp-7d, 0x1.e5fbe8857f6f5p-9d, 0x1.639a895132223p-6d, -0x1.57fad0e39eaf7p-6d, \
        0x1.0b45e9f8e6b15p-5d)
// (atan(x) - x) / x^3, z = x^2, for |x| <= 1/2
#define __ATAN_P(z) \
    __HORNER13(z, -0x1.5555555555552p-2d, 0x1.99999999990dcp-3d, -0x1.249249245394ap-3d, 0x1.c71c71ab030c4p-4d, \
        -0x1.745d139176818p-4d, 0x1.3b1360d6d7227p-4d, -0x1.110c72e5b7d23p-4d, 0x1.e182f3d94de2fp-5d, \
        -0x1.ac734c9858d3ap-5d, 0x1.77fe6dd86a296p-5d, -0x1.3022ac5ba87f4p-5d, 0x1.83b826ed9d49fp-6d, \
        -0x1.124fb41c0e1cap-7d)
// (sinh(x) - x) / x^3, z = x^2, for |x| <= 1
#define __SINH_P(z) \
    __HORNER8(z, 0x1.5555555555555p-3d, 0x1.111111111117cp-7d, 0x1.a01a01a00db3ap-13d, 0x1.71de3a60a9f7dp-19d, \
        0x1.ae644b32db998p-26d, 0x1.612abe6b5d71ep-33d, 0x1.aab9951a7065bp-41d, 0x1.409579384599ap-48d)
// (tanh(x) - x) / x^3, z = x^2, for |x| <= 0.6
#define __TANH_P(z) \
    __HORNER14(z, -0x1.5555555555555p-2d, 0x1.11111111110a4p-3d, -0x1.ba1ba1ba14f5cp-5d, 0x1.664f488105505p-6d, \
        -0x1.226e35180a896p-7d, 0x1.d6d3c22dcb674p-9d, -0x1.7da255c9bdcbp-10d, 0x1.354a6b9247ac8p-11d, \
        -0x1.f47f4e2034b3bp-13d, 0x1.8ff321d3ff03bp-14d, -0x1.2b4d88ab90b98p-15d, 0x1.59cf34875981dp-17d, \
        -0x1.dcfe46cf2b9d9p-21d, -0x1.341e92d0f58e6p-21d)
// (erf(x) - 2/sqrt(pi) x) / x^3, z = x^2, for |x| <= 1
#define __ERF_P(z) \
    __HORNER12(z, -0x1.812746b0379e6p-2d, 0x1.ce2f21a042b27p-4d, -0x1.b82ce31284a2cp-6d, 0x1.565bcd0db034cp-8d, \
        -0x1.c02db3d8d1963p-11d, 0x1.f9a3219c50ffcp-14d, -0x1.f4d1decc413e9p-17d, 0x1.b9deebb68bd9p-20d, \
        -0x1.5f1d02e4fc846p-23d, 0x1.f7a1dcde20a27p-27d, -0x1.3863ed2c19caep-30d, 0x1.056757aeb95eep-34d)
// ((1+2x) exp(x^2) erfc(x) - c0) / q, q = (x-K)/(x+K), for x >= 0.45
#define __ERFCX_P(q) \
    __HORNER22(q, -0x1.1df1ad154a28ep-3d, 0x1.f7f5df66fd6fep-7d, 0x1.16ecefcfa530fp-4d, -0x1.9ddb23c3e8a1ep-4d, \
        0x1.7fee004e14046p-4d, -0x1.0fb06dfe551c9p-4d, 0x1.3079edf637bccp-5d, -0x1.096238826aba6p-6d, \
        0x1.49c672a262d35p-8d, -0x1.8d4a9ca9dd2dap-11d, -0x1.a1df3f2112a3dp-13d, 0x1.3be075fb1fcap-13d, \
        -0x1.99558769294a9p-16d, -0x1.789043b3bac43p-17d, 0x1.7efb43b05828p-18d, 0x1.3c94edf25a2bdp-22d, \
        -0x1.b8443fccdbc69p-21d, 0x1.3a207de53c4d1p-24d, 0x1.bd7120a6e9321p-24d, -0x1.1f07c3ded0151p-26d, \
        -0x1.5130cf9e4d473p-27d, 0x1.86bb4bb776266p-30d)
// ((1+u)^(-1/3) - 1) / u for |u| <= 0.1
#define __CBRT_P(u) \
    __HORNER7(u, -0x1.55555554e4d63p-2d, 0x1.c71c7415de116p-3d, -0x1.61f9b319c91f2p-3d, 0x1.26f5460f92f47p-3d, \
        -0x1.ff3cecb8b4bbep-4d, 0x1.cdd0779de8244p-4d, -0x1.a32cd452b12c6p-4d)
