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

/// T rsqrt(T x), T a floating-point type
/// 1/sqrt(x). rsqrt(+-0) is +-inf, rsqrt(inf) is 0, negative x give NaN.
/// Correctly rounded in all cases measured.
#ifdef __FP_FAST
static inline SHAPE REAL rsqrt(SHAPE REAL x) { return __L(1.0) / __op_sqrt(x); }
#else
static inline SHAPE REAL rsqrt(SHAPE REAL x) {
    SHAPE REAL v = x;
    SHAPE REAL after = __L(1.0);
    if (x < __HYPOT_SMALL) {
        v = x * (__SUBNORMAL_SCALE * __SUBNORMAL_SCALE);
        after = __SUBNORMAL_SCALE;
    }
    SHAPE REAL s = __op_sqrt(v);
    SHAPE REAL y = __L(1.0) / s;
    // Both roundings are known exactly: of the division (1 - s y) and of the root (x - s^2).
    SHAPE REAL division_error = __op_fma(-s, y, __L(1.0));
    SHAPE REAL root_error = __op_fma(-s, s, v);
    SHAPE REAL corrected = __op_fma(y, __op_fma(root_error * (y * y), __L(-0.5), division_error), y);
    // At 0 and infinity the correction is NaN; y is right there.
    return __op_select(x > __L(0.0) & x <= __MAX_FINITE, corrected * after, y);
}
#endif

/// T rsqrt_fast(T x), T in float, double
/// 1/sqrt(x) as a root and a division, each correctly rounded: at most 1.5 ULP.
static inline SHAPE REAL rsqrt_fast(SHAPE REAL x) { return __L(1.0) / __op_sqrt(x); }

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
    SHAPE REAL v = x;
    SHAPE int bias = 1 - __BIAS;
    if (__op_abs(x) < __MIN_NORMAL) {
        v = x * __SUBNORMAL_SCALE;
        bias = 1 - __BIAS - __SUBNORMAL_SHIFT;
    }
    SHAPE UINT bits = __UBITS(v);
    SHAPE int e = (SHAPE int)((bits & __INF_BITS) >> __MANTISSA_BITS) + bias;
    SHAPE REAL fraction = __FROM_BITS((bits & ~__INF_BITS) | __HALF_BITS);
    SHAPE bool plain = x != __L(0.0) & __op_abs(x) <= __MAX_FINITE;
    *exponent = __op_select(plain, e, (uniform int)0);
    return __op_select(plain, fraction, x);
}

/// T fma(T x, T y, T z), T in float, double
/// x * y + z, rounded once.
static inline SHAPE REAL fma(SHAPE REAL x, SHAPE REAL y, SHAPE REAL z) { return __op_fma(x, y, z); }
