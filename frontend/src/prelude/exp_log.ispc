// Exponentials and logarithms: float and double.
//
// exp: Cody and Waite's reduction x = n ln2 + r with |r| <= ln2/2, a polynomial in r, and scaling by 2^n ("Software Manual
// for the Elementary Functions", 1980). log: x = 2^e (1+f) with 1+f in [sqrt(1/2), sqrt(2)), then e ln2 + log(1+f), the
// sums, where it would show, carried with their rounding errors (Dekker's Fast2Sum; Muller et al., "Handbook of
// Floating-Point Arithmetic").

// Declares n, a whole number, and r + rl = x - n ln2 to twice the precision.
#define __EXP_REDUCE(x, n, r, rl) \
    SHAPE REAL n = __op_round_even((x) * __LOG2E); \
    SHAPE REAL r##1 = __op_fma(n, -__LN2_1, x); \
    SHAPE REAL r = __op_fma(n, -__LN2_2, r##1); \
    SHAPE REAL rl = __op_fma(n, -__LN2_2, r##1 - r);

// (exp(r) - 1 - r) / r^2
#define __EXP_Q(r) __op_fma(r, __EXP_C(r), __L(0.5))

// Added to a number, it leaves the nearest whole one, plus the bias of exponents, in the last digits of the sum.
#define __TO_EXPONENT (__TO_WHOLE + (uniform REAL)__BIAS)
// y * 2^n, for t = n + __TO_EXPONENT where 2^n and the result are normal numbers, and where n may be twice as far out.
// (No bits of y are looked at: those of what may be a NaN take two more instructions.)
#define __SCALE_BY_SUM(y, t) ((y) * __FROM_BITS(__BITS(t) << __MANTISSA_BITS))
#define __SCALE_FAR(y, n) ((y) * __POW2((SHAPE INT)(n) >> 1) * __POW2((SHAPE INT)(n) - ((SHAPE INT)(n) >> 1)))

// Declares result = y * 2^n, for t = n + __TO_TWO_EXPONENTS and n >= -2 bias, wherever the result is, 0 and infinity included: by
// two factors, of which the second rounds. A test for what one factor does would take longer than the second. For the least n
// both are 0: a product that only rounds to 0 takes longer.
#define __TO_TWO_EXPONENTS (__TO_WHOLE + (uniform REAL)(2 * __BIAS))
#define __SCALE_BY_TWO(y, t, result) \
    SHAPE UINT result##2 = __UBITS(t) << __MANTISSA_BITS; \
    SHAPE UINT result##1 = (result##2 >> 1) & __INF_BITS; \
    SHAPE REAL result = (y) * __FROM_BITS(result##2 - result##1) * __FROM_BITS(result##1);

// The nearest number to x in a range beyond which results are infinite and 0. NaN stays.
#define __WITHIN(least, greatest, x) __op_min(greatest, __op_max(least, x))

/// T exp(T x), T a floating-point type
/// e^x. exp(-inf) is 0, exp(inf) is inf, overflow gives inf, underflow is gradual.
/// Largest error measured: 0.77 ULP of float, 0.77 ULP of double.
static inline SHAPE REAL exp(SHAPE REAL x) {
    SHAPE REAL v = __WITHIN(__EXP_LEAST, __EXP_OVERFLOW, x);
    SHAPE REAL t = __op_fma(v, __LOG2E, __TO_TWO_EXPONENTS);
    SHAPE REAL n = t - __TO_TWO_EXPONENTS;
    SHAPE REAL r = __op_fma(n, -__LN2_2, __op_fma(n, -__LN2_1, v));
#ifdef __FP_FAST
    SHAPE REAL y = __L(1.0) + __op_fma(r * r, __EXP_Q(r), r);
#else
    // 1 + r + r^2 Q(r), with the error of 1 + r. That of r is a quarter of the result's last place at most.
    SHAPE REAL s = __L(1.0) + r;
    SHAPE REAL sl = r - (s - __L(1.0));
    SHAPE REAL y = s + __op_fma(r * r, __EXP_Q(r), sl);
#endif
    __SCALE_BY_TWO(y, t, result)
    return result;
}

/// T exp2(T x), T a floating-point type
/// 2^x, exact for whole x. exp2(-inf) is 0, exp2(inf) is inf.
/// Largest error measured: 0.77 ULP of float, 0.75 ULP of double.
static inline SHAPE REAL exp2(SHAPE REAL x) {
    SHAPE REAL v = __WITHIN((uniform REAL)(-2 * __BIAS), __EXP2_OVERFLOW, x);
    SHAPE REAL t = v + __TO_TWO_EXPONENTS;
    SHAPE REAL r = v - (t - __TO_TWO_EXPONENTS);
#ifdef __FP_FAST
    SHAPE REAL y = __L(1.0) + __op_fma(r * r, __EXP2_Q(r), r * __LN2_1);
#else
    SHAPE REAL p = r * __LN2_1;
    SHAPE REAL pl = __op_fma(r, __LN2_2, __op_fma(r, __LN2_1, -p));
    SHAPE REAL s = __L(1.0) + p;
    SHAPE REAL sl = p - (s - __L(1.0));
    SHAPE REAL y = s + __op_fma(r * r, __EXP2_Q(r), sl + pl);
#endif
    __SCALE_BY_TWO(y, t, result)
    return result;
}

/// T expm1(T x), T a floating-point type
/// e^x - 1, accurate near 0. expm1(+-0) is +-0, expm1(-inf) is -1, expm1(inf) is inf.
/// Largest error measured: 0.71 ULP of float, 0.79 ULP of double.
static inline SHAPE REAL expm1(SHAPE REAL x) {
    SHAPE REAL v = __op_max(__EXPM1_IS_MINUS_ONE, x);
    __EXP_REDUCE(v, n, r, rl)
    // 2^n (1 + r + r^2/2 + tail) - 1 = (2^n - 1) + 2^n r + 2^n r^2/2 + 2^n tail, the first sums with their errors.
    SHAPE REAL half = __L(0.5) * r;
    SHAPE REAL h = half * r;
    SHAPE REAL tail = __op_fma(h * (r + r), __EXP_C(r), __op_fma(half, r, -h) + rl);
    SHAPE REAL scale = __POW2((SHAPE INT)n);
    SHAPE REAL a = scale - __L(1.0);
    SHAPE REAL b = __op_fma(scale, r, a);
    SHAPE REAL bl = __op_fma(scale, r, a - b) + ((scale - a) - __L(1.0));
    SHAPE REAL c = __op_fma(scale, h, b);
    SHAPE REAL cl = __op_fma(scale, h, b - c);
    SHAPE REAL result = c + __op_fma(scale, tail, bl + cl);
    if (!(__op_abs(x) < __EXPM1_IS_EXP) | x == __L(0.0)) {
        result = __op_select(x > __L(0.0), exp(x), __op_select(x == __L(0.0), x, result));
        result = __op_select(x != x, x, result);
    }
    return result;
}

// Declares the integer n, and f with x = 2^n (1 + f), for a positive normal x.
#define __LOG_SPLIT(x, n, f) \
    SHAPE INT n = (__BITS(x) - __SQRT_HALF_BITS) >> __MANTISSA_BITS; \
    SHAPE REAL f = __FROM_BITS(__BITS(x) - (n << __MANTISSA_BITS)) - __L(1.0);

// Declares e and f with x = 2^e (1 + f), and with x = 2^(e - bias) (1 + f).
#define __LOG_REDUCE(x, e, f) \
    __LOG_SPLIT(x, e##i, f) \
    SHAPE REAL e = (SHAPE REAL)e##i;
#define __LOG_REDUCE_BIASED(x, bias, e, f) \
    __LOG_SPLIT(x, e##i, f) \
    SHAPE REAL e = (SHAPE REAL)(e##i + bias);

// The logarithm of x, by a function that computes that of x 2^bias for a normal x.
#define __LOG_BY(normal, x) \
    SHAPE REAL y = normal(x, (uniform INT)0); \
    if (__IS_UNUSUAL(x)) { \
        y = __LOG_UNUSUAL(x, normal((x) * __SUBNORMAL_SCALE, (uniform INT)(-__SUBNORMAL_SHIFT))); \
    } \
    return y;

// The logarithm of an unusual x, y if x is subnormal.
#define __LOG_UNUSUAL(x, y) \
    __op_select(x > __L(0.0), __op_select(x > __MAX_FINITE, x, y), __op_select(x == __L(0.0), -__INF, __NAN))

/// T log(T x), T a floating-point type
/// The natural logarithm. log(+-0) is -inf, log(inf) is inf, negative x give NaN.
/// Largest error measured: 0.85 ULP of float, 0.81 ULP of double.
#ifdef __FP_FAST
// The logarithm of anything but a positive normal number.
#define __LOG_SPECIAL(x) \
    __op_select(x > __MAX_FINITE, x, __op_select(__op_abs(x) < __MIN_NORMAL, -__INF, __NAN))

static inline SHAPE REAL log(SHAPE REAL x) {
    __LOG_REDUCE(x, e, f)
    __LOG_TAIL(f, c)
    SHAPE REAL y = __op_fma(e, __LN2_1, f + c);
    if (__IS_UNUSUAL(x)) {
        y = __LOG_SPECIAL(x);
    }
    return y;
}
#else
static inline SHAPE REAL __log_normal(SHAPE REAL x, uniform INT bias) {
    __LOG_REDUCE_BIASED(x, bias, e, f)
    __LOG_TAIL(f, c)
    __LOG_TOTAL(e, f, c, y)
    return y;
}

static inline SHAPE REAL log(SHAPE REAL x) { __LOG_BY(__log_normal, x) }
#endif

/// T log2(T x), T a floating-point type
/// The logarithm to base 2, exact for powers of two. Special values as log.
/// Largest error measured: 0.70 ULP of float, 0.69 ULP of double.
#ifdef __FP_FAST
static inline SHAPE REAL log2(SHAPE REAL x) {
    __LOG_REDUCE(x, e, f)
    __LOG_TAIL(f, c)
    SHAPE REAL y = __op_fma(f + c, __LOG2E, e);
    if (__IS_UNUSUAL(x)) {
        y = __LOG_SPECIAL(x);
    }
    return y;
}
#else
static inline SHAPE REAL __log2_normal(SHAPE REAL x, uniform INT bias) {
    __LOG_REDUCE_BIASED(x, bias, e, f)
    __LOG_SUM(f, w, wl)
    SHAPE REAL p = w * __LOG2E;
    SHAPE REAL pl = __op_fma(w, __LOG2E_2, __op_fma(w, __LOG2E, -p));
    SHAPE REAL s = e + p;
    SHAPE REAL sl = p - (s - e);
    return s + (sl + __op_fma(wl, __LOG2E, pl));
}

static inline SHAPE REAL log2(SHAPE REAL x) { __LOG_BY(__log2_normal, x) }
#endif

/// T log10(T x), T a floating-point type
/// The logarithm to base 10. Special values as log.
/// Largest error measured: 0.91 ULP of float, 0.91 ULP of double.
#ifdef __FP_FAST
static inline SHAPE REAL log10(SHAPE REAL x) { return log(x) * __LOG10E_1; }
#else
static inline SHAPE REAL __log10_normal(SHAPE REAL x, uniform INT bias) {
    __LOG_REDUCE_BIASED(x, bias, e, f)
    __LOG_TAIL(f, c)
    SHAPE REAL p = f * __LOG10E_1;
    SHAPE REAL pl = __op_fma(f, __LOG10E_2, __op_fma(f, __LOG10E_1, -p));
    SHAPE REAL a = e * __LOG10_2_SHORT_1;
    SHAPE REAL s = a + p;
    SHAPE REAL sl = p - (s - a);
    return s + (sl + __op_fma(e, __LOG10_2_SHORT_2, __op_fma(c, __LOG10E_1, pl)));
}

static inline SHAPE REAL log10(SHAPE REAL x) { __LOG_BY(__log10_normal, x) }
#endif

// log(1 + x + xl), for |xl| at most an ULP of x.
static inline SHAPE REAL __log1p_pair(SHAPE REAL x, SHAPE REAL xl) {
    SHAPE REAL u = __L(1.0) + x;
    __LOG_REDUCE(u, e, f)
    // 1 + x = 2^e (1 + f + fl): what the rounding of u lost (Knuth's TwoSum, scaled). Beyond 2^60 it does not count.
    SHAPE REAL p = __POW2(-__op_min(ei, (uniform INT)60));
    SHAPE REAL xs = x * p;
    SHAPE REAL m = f + __L(1.0);
    SHAPE REAL b = m - xs;
    SHAPE REAL lost = (xs - (m - b)) + (p - b);
    SHAPE REAL fl = __op_select(e < __L(60.0), __op_fma(xl, p, lost), __L(0.0));
    __LOG_TAIL(f, c)
    // log(1 + f + fl) = log(1 + f) + fl / (1 + f)
    SHAPE REAL small = __op_fma(e, __LN2_SHORT_2, c) + fl / m;
    SHAPE REAL a = e * __LN2_SHORT_1;
    SHAPE REAL s = a + f;
    SHAPE REAL sl = f - (s - a);
    return s + (sl + small);
}

/// T log1p(T x), T a floating-point type
/// log(1 + x), accurate near 0. log1p(+-0) is +-0, log1p(-1) is -inf, log1p(inf) is inf, x < -1 gives NaN.
/// Largest error measured: 0.92 ULP of float, 0.91 ULP of double.
static inline SHAPE REAL log1p(SHAPE REAL x) {
    SHAPE REAL y = __log1p_pair(x, __L(0.0));
    if (!(x > __L(-1.0) & x <= __MAX_FINITE) | x == __L(0.0)) {
        y = __op_select(x >= __L(0.0), x, __op_select(x == __L(-1.0), -__INF, __NAN));
        y = __op_select(x == __L(0.0), x, y);
    }
    return y;
}
