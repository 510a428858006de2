// Parts of floating-point numbers, and exact or correctly rounded functions: float and double.

// 2^n as a REAL, for n from the smallest normal exponent to the largest.
#define __POW2(n) __FROM_BITS(((n) + __BIAS) << __MANTISSA_BITS)

// y with the sign of x; y must not be negative.
#define __WITH_SIGN(y, x) __FROM_BITS(__UBITS(y) | (__UBITS(x) & __SIGN_BIT))

/// bool isnan(T x), T a floating-point type
/// Whether x is not a number.
static inline SHAPE bool isnan(SHAPE REAL x) { return x != x; }

/// bool isinf(T x), T a floating-point type
/// Whether x is plus or minus infinity.
static inline SHAPE bool isinf(SHAPE REAL x) { return __op_abs(x) > __MAX_FINITE; }

/// bool isfinite(T x), T a floating-point type
/// Whether x is neither infinite nor NaN.
static inline SHAPE bool isfinite(SHAPE REAL x) { return __op_abs(x) <= __MAX_FINITE; }

/// U signbits(T x), T a floating-point type, U the unsigned integer of its size
/// The bits of x with all but the sign cleared: 0 for a positive number, the top bit set for a negative one. NaNs are positive,
/// but that of fmod has the sign of its dividend.
static inline SHAPE UINT signbits(SHAPE REAL x) { return __UBITS(__op_sign(x)); }

/// T copysign(T x, T y), T a floating-point type
/// The magnitude of x with the sign of y.
static inline SHAPE REAL copysign(SHAPE REAL x, SHAPE REAL y) { return __WITH_SIGN(__op_abs(x), y); }

/// T rcp(T x), T a floating-point type
/// 1/x, correctly rounded. rcp(+-0) is +-inf, rcp(+-inf) is +-0.
static inline SHAPE REAL rcp(SHAPE REAL x) { return __L(1.0) / x; }

/// T rcp_fast(T x), T in float, double
/// 1/x. There is no approximation to gain from: the same as rcp.
static inline SHAPE REAL rcp_fast(SHAPE REAL x) { return __L(1.0) / x; }

// Whether x is anything but a positive normal number.
#define __IS_UNUSUAL(x) (__UBITS(x) - __MIN_NORMAL_BITS >= __INF_BITS - __MIN_NORMAL_BITS)

// Declares y, 1/sqrt(x) to 1.1 ULP for a positive normal x, without the root and the division, which take longer in wide
// vectors: a line in x's bits (to 8 %), one Newton step that is fitted to it (to 2^-10), and one step of the third order,
// in e = 1 - x y^2: 1 + e/2 + 3/8 e^2 is (1 - e)^(-1/2).
#define __RSQRT_BY_STEPS(x, y) \
    SHAPE REAL y##0 = __FROM_BITS(__RSQRT_START - (__UBITS(x) >> 1)); \
    SHAPE REAL y##1 = y##0 * __op_fma(-((x) * y##0), y##0, __RSQRT_STEP); \
    SHAPE REAL y##e = __op_fma(-((x) * y##1), y##1, __L(1.0)); \
    SHAPE REAL y##2 = __op_fma(y##1 * y##e, __op_fma(y##e, __L(0.375), __L(0.5)), y##1); \
    __RSQRT_LAST_STEP(x, y##2, y)

/// T rsqrt_fast(T x), T in float, double
/// 1/sqrt(x) by multiplications: at most 1.1 ULP, of subnormal numbers 1.5. Special values as rsqrt.
static inline SHAPE REAL rsqrt_fast(SHAPE REAL x) {
    __RSQRT_BY_STEPS(x, y)
    SHAPE REAL result = y;
    if (__IS_UNUSUAL(x)) {
        result = __L(1.0) / __op_sqrt(x);
    }
    return result;
}

#ifndef __FP_FAST
static inline SHAPE REAL __rsqrt_normal(SHAPE REAL x) {
    __RSQRT_BY_STEPS(x, y)
    // One more step, with the rounding of x y.
    SHAPE REAL s = x * y;
    SHAPE REAL sl = __op_fma(x, y, -s);
    return __op_fma(__L(0.5) * y, __op_fma(-sl, y, __op_fma(-s, y, __L(1.0))), y);
}
#endif

/// T rsqrt(T x), T a floating-point type
/// 1/sqrt(x). rsqrt(+-0) is +-inf, rsqrt(inf) is 0, negative x give NaN.
/// Largest error measured: 0.50 ULP.
#ifdef __FP_FAST
static inline SHAPE REAL rsqrt(SHAPE REAL x) { return rsqrt_fast(x); }
#else
static inline SHAPE REAL rsqrt(SHAPE REAL x) {
    SHAPE REAL result = __rsqrt_normal(x);
    if (__IS_UNUSUAL(x)) {
        SHAPE bool subnormal = x > __L(0.0) & x < __MIN_NORMAL;
        SHAPE REAL scaled = __rsqrt_normal(x * (__SUBNORMAL_SCALE * __SUBNORMAL_SCALE)) * __SUBNORMAL_SCALE;
        result = __op_select(subnormal, scaled, __L(1.0) / __op_sqrt(x));
    }
    return result;
}
#endif

/// T ldexp(T x, int n), T a floating-point type
/// x * 2^n, correctly rounded, with overflow to infinity and gradual underflow.
static inline SHAPE REAL ldexp(SHAPE REAL x, SHAPE int n) {
    SHAPE REAL v = x;
    SHAPE INT k = n;
    if (n > __BIAS | n < 1 - __BIAS) {
        // Two steps towards the wanted exponent. Going down they stop short of the subnormal numbers, so that only the
        // last multiplication rounds.
        for (uniform int step = 0; step < 2; step++) {
            SHAPE bool up = k > __BIAS;
            SHAPE bool down = k < 1 - __BIAS;
            SHAPE REAL factor = __op_select(up, __POW2((uniform INT)__BIAS),
                                            __op_select(down, __POW2((uniform INT)(2 + __MANTISSA_BITS - __BIAS)), __L(1.0)));
            SHAPE INT taken = __op_select(up, (uniform INT)__BIAS,
                                          __op_select(down, (uniform INT)(2 + __MANTISSA_BITS - __BIAS), (uniform INT)0));
            v = v * factor;
            k = k - taken;
        }
        k = __op_max(__op_min(k, (uniform INT)__BIAS), (uniform INT)(1 - __BIAS));
    }
    return v * __POW2(k);
}

/// T frexp(T x, int *exponent), T a floating-point type
/// Splits x into a fraction in [0.5, 1), which is returned with the sign of x, and a power of two, stored in *exponent:
/// x = fraction * 2^exponent. For 0, infinities and NaN returns x and stores 0.
static inline SHAPE REAL frexp(SHAPE REAL x, SHAPE int *uniform exponent) {
    SHAPE bool small = __op_abs(x) < __MIN_NORMAL;
    SHAPE UINT bits = __UBITS(__op_select(small, x * __SUBNORMAL_SCALE, x));
    SHAPE int bias = __op_select(small, (uniform int)(1 - __BIAS - __SUBNORMAL_SHIFT), (uniform int)(1 - __BIAS));
    SHAPE int e = (SHAPE int)((bits & __INF_BITS) >> __MANTISSA_BITS) + bias;
    SHAPE REAL fraction = __FROM_BITS((bits & ~__INF_BITS) | __HALF_BITS);
    SHAPE bool plain = x != __L(0.0) & __op_abs(x) <= __MAX_FINITE;
    *exponent = __op_select(plain, e, (uniform int)0);
    return __op_select(plain, fraction, x);
}

/// T fma(T x, T y, T z), T in float, double
/// x * y + z, rounded once.
static inline SHAPE REAL fma(SHAPE REAL x, SHAPE REAL y, SHAPE REAL z) { return __op_fma(x, y, z); }
