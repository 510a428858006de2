// pow: float and double.
//
// x^y = 2^(y log2 x), where log2 x must be good to about ten bits more than the result, since |y log2 x| may reach 128 or
// 1024. So float computes in double, and rounds once. For double, log2 is an unevaluated sum of two (Dekker 1971): with
// x = 2^e m and s = (m-1)/(m+1), ln m = 2 (s + s^3/3 + s^5 B(s^2)), the first two terms in double precision of the format.

// Whether y is a whole number, and whether it is an odd one. From 2^53 (2^24) on every number is whole and even.
#define __IS_WHOLE(y) (__op_trunc(y) == (y))
#define __IS_ODD(y) (__IS_WHOLE(y) & __op_trunc(__L(0.5) * (y)) != __L(0.5) * (y))

// The result where x is not a positive finite number, y not finite, or the result outside the normal range; magnitude is
// |x|^y if all is finite.
static inline SHAPE REAL __pow_unusual(SHAPE REAL x, SHAPE REAL y, SHAPE REAL magnitude) {
    SHAPE REAL a = __op_abs(x);
    SHAPE REAL m = magnitude;
    SHAPE bool grows = (a > __L(1.0)) == (y > __L(0.0));
    SHAPE bool limit = a == __L(0.0) | a > __MAX_FINITE | __op_abs(y) > __MAX_FINITE;
    m = __op_select(limit, __op_select(grows, __INF, __L(0.0)), m);
    m = __op_select(a == __L(1.0), __L(1.0), m);
    SHAPE bool negative = (__UBITS(x) & __SIGN_BIT) != 0;
    SHAPE bool odd = __IS_ODD(y) & __op_abs(y) <= __MAX_FINITE;
    m = __op_select(negative & odd, -m, m);
    SHAPE bool undefined = x < __L(0.0) & a <= __MAX_FINITE & !__IS_WHOLE(y);
    m = __op_select(undefined | x != x | y != y, __NAN, m);
    return __op_select(y == __L(0.0) | x == __L(1.0), __L(1.0), m);
}

#ifdef __WHOLE_POWERS
// Whether x^y is computed by multiplications. It depends on the lane's exponent only, so that a lane's bits do not depend
// on whether y is uniform or varying, nor on other lanes.
#define __IS_FEW_FACTORS(y) (__op_abs(y) <= __L(64.0) & __IS_WHOLE(y))

// One bit of the exponent k: b = x^(2^i) becomes its square, which p is multiplied by if the bit is set.
#define __POWER_STEP(p, b, k, bit) \
    b = b * b; \
    p = __op_select(((k) & (bit)) != 0, p * b, p);

// x^y of float for a whole y, |y| <= 64, in double: rounded once to float, since at most 2^-46 of it is lost before. No
// value is special. Where a product leaves the range of double, x^y leaves that of float by far, on the same side, and
// signs of zeros and infinities are those of products and reciprocals.
static inline SHAPE float __pow_whole(SHAPE float x, SHAPE float y) {
    SHAPE int32 k = (SHAPE int32)__op_abs(y);
    SHAPE double b = x;
    SHAPE double p = __op_select((k & 1) != 0, b, 1.0d);
    __POWER_STEP(p, b, k, 2)
    __POWER_STEP(p, b, k, 4)
    if (k >= 8) {
        __POWER_STEP(p, b, k, 8)
        __POWER_STEP(p, b, k, 16)
        __POWER_STEP(p, b, k, 32)
        __POWER_STEP(p, b, k, 64)
    }
    if (y < 0.0f) {
        p = 1.0d / p;
    }
    return (SHAPE float)p;
}
#undef __POWER_STEP

// x^y of float by its logarithm in double, for a positive normal x 2^bias; 2^300 or 2^-300 where that is beyond.
static inline SHAPE float __pow_in_double(SHAPE float x, uniform int32 bias, SHAPE float y) {
    __LOG_REDUCE_BIASED(x, bias, e, f)
    SHAPE double d = f;
    SHAPE double l = __op_fma(d, __POW_LOG2_G(d), (SHAPE double)e);
    SHAPE double q = __op_min(__op_max((SHAPE double)y * l, -300.0d), 300.0d);
    // The last digits of t are those of a whole number and the bias of exponents, as for __SCALE_BY_SUM.
    SHAPE double t = q + __POW_TO_EXPONENT;
    SHAPE double r = q - (t - __POW_TO_EXPONENT);
    return (SHAPE float)(__POW_EXP2(r) * __op_bitcast_f64(__op_bitcast_i64(t) << 52));
}

static inline SHAPE float __pow_by_log(SHAPE float x, SHAPE float y) {
    SHAPE float a = __op_abs(x);
    SHAPE float result = __pow_in_double(a, 0, y);
    if (!(x >= __MIN_NORMAL & x <= __MAX_FINITE & __op_abs(y) <= __MAX_FINITE)) {
        if (a < __MIN_NORMAL & a > 0.0f) {
            result = __pow_in_double(a * __SUBNORMAL_SCALE, -__SUBNORMAL_SHIFT, y);
        }
        result = __pow_unusual(x, y, result);
    }
    return result;
}
#else
static inline SHAPE REAL __pow_by_log(SHAPE REAL x, SHAPE REAL y) {
    SHAPE REAL a = __op_abs(x);
    SHAPE REAL bias = __L(0.0);
    if (a < __MIN_NORMAL) {
        a = a * __SUBNORMAL_SCALE;
        bias = (uniform REAL)(-__SUBNORMAL_SHIFT);
    }
    __LOG_REDUCE(a, e0, f)
    SHAPE REAL e = e0 + bias;
    // s + sl = f / (2 + f)
    SHAPE REAL m = f + __L(1.0);
    SHAPE REAL d = m + __L(1.0);
    SHAPE REAL dl = m - (d - __L(1.0));
    SHAPE REAL rd = __L(1.0) / d;
    SHAPE REAL s = f * rd;
    SHAPE REAL sl = (__op_fma(-s, d, f) - s * dl) * rd;
    // z + zl = s^2
    SHAPE REAL z = s * s;
    SHAPE REAL zl = __op_fma(s + s, sl, __op_fma(s, s, -z));
    // u + ul = 1/3 + z B(z)
    SHAPE REAL w = z * __ATANH_B(z);
    SHAPE REAL u = __THIRD_1 + w;
    SHAPE REAL ul = ((__THIRD_1 - u) + w) + __THIRD_2;
    // v + vl = z u, p + pl = s v
    SHAPE REAL v = z * u;
    SHAPE REAL vl = __op_fma(z, ul, __op_fma(zl, u, __op_fma(z, u, -v)));
    SHAPE REAL p = s * v;
    SHAPE REAL pl = __op_fma(s, vl, __op_fma(sl, v, __op_fma(s, v, -p)));
    // t + tl = ln(m) / 2
    SHAPE REAL t = s + p;
    SHAPE REAL tl = ((s - t) + p) + (sl + pl);
    // g + gl = log2 m
    SHAPE REAL t2 = t + t;
    SHAPE REAL g = t2 * __LOG2E;
    SHAPE REAL gl = __op_fma(t2, __LOG2E, -g) + __op_fma(t2, __LOG2E_2, (tl + tl) * __LOG2E);
    // l + ll = log2 x
    SHAPE REAL h = e + g;
    SHAPE REAL hl = ((e - h) + g) + gl;
    SHAPE REAL l = h + hl;
    SHAPE REAL ll = (h - l) + hl;
    // q + ql = y log2 x
    SHAPE REAL q = y * l;
    SHAPE REAL ql = __op_fma(y, ll, __op_fma(y, l, -q));
    // 2^q as in exp2
    SHAPE REAL nt = q + __TO_EXPONENT;
    SHAPE REAL n = nt - __TO_EXPONENT;
    SHAPE REAL r0 = q - n;
    SHAPE REAL r = r0 + ql;
    SHAPE REAL rl = (r0 - r) + ql;
    SHAPE REAL b = r * __LN2_1;
    SHAPE REAL bl = __op_fma(rl, __LN2_1, __op_fma(r, __LN2_2, __op_fma(r, __LN2_1, -b)));
    SHAPE REAL c = __L(1.0) + b;
    SHAPE REAL cl = b - (c - __L(1.0));
    SHAPE REAL mantissa = c + __op_fma(r * r, __EXP2_Q(r), cl + bl);
    SHAPE REAL result = __SCALE_BY_SUM(mantissa, nt);
    if (!(__op_abs(q) < __EXP2_NORMAL & x > __L(0.0) & x <= __MAX_FINITE)) {
        SHAPE REAL far = __op_select(q >= __EXP2_OVERFLOW + __L(1.0), __INF,
                                     __op_select(q < __EXP2_UNDERFLOW, __L(0.0), __SCALE_FAR(mantissa, n)));
        result = __pow_unusual(x, y, far);
    }
    return result;
}
#endif

/// T pow(T x, T y), T a floating-point type
/// x to the power y. All special values as in C: pow(x, +-0) and pow(1, y) are 1 even for NaN; a negative x with a whole y
/// has the sign of (-1)^y, with any other finite y gives NaN; pow(+-0, y) is 0 or inf, signed if y is odd.
/// Largest error measured: 0.66 ULP of float, 0.76 ULP of double; float with a whole y, |y| <= 64, is
/// computed in double and rounded once.
static inline SHAPE REAL pow(SHAPE REAL x, SHAPE REAL y) {
#ifdef __WHOLE_POWERS
    SHAPE REAL result;
    if (__IS_FEW_FACTORS(y)) {
        result = __pow_whole(x, y);
    } else {
        result = __pow_by_log(x, y);
    }
    return result;
#else
    return __pow_by_log(x, y);
#endif
}
