// Hyperbolic functions: float and double. Near 0 an odd polynomial; beyond, e^|x| as an unevaluated sum of two.

/// T sinh(T x), T a floating-point type
/// The hyperbolic sine. sinh(+-0) is +-0, sinh(+-inf) is +-inf.
/// Largest error measured: 0.73 ULP of float, 0.73 ULP of double.
static inline SHAPE REAL sinh(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    SHAPE REAL z = a * a;
    SHAPE REAL y = __op_fma(a * z, __SINH_P(z), a);
    if (!(a < __L(1.0))) {
        // (e^a - e^-a) / 2, an eighth of everything so that it overflows only where the result does.
        SHAPE REAL v = __op_min(__SINH_OVERFLOW, a);
        __EXP_REDUCE(v, n, r, rl)
        SHAPE REAL eh = __L(1.0) + r;
        SHAPE REAL el = (r - (eh - __L(1.0))) + __op_fma(r * r, __EXP_Q(r), rl);
        SHAPE INT k = (SHAPE INT)n;
        SHAPE REAL scale = __POW2(k - 3);
        SHAPE REAL inverse = (__L(1.0) / (eh + el)) * __POW2(-3 - __op_min(k, (uniform INT)60));
        y = __L(4.0) * __op_fma(scale, eh, __op_fma(scale, el, -inverse));
    }
    return __WITH_SIGN(y, x);
}

/// T cosh(T x), T a floating-point type
/// The hyperbolic cosine. cosh(+-inf) is inf.
/// Largest error measured: 0.88 ULP of float, 0.88 ULP of double.
static inline SHAPE REAL cosh(SHAPE REAL x) {
    SHAPE REAL v = __op_min(__SINH_OVERFLOW, __op_abs(x));
    __EXP_REDUCE(v, n, r, rl)
    SHAPE REAL eh = __L(1.0) + r;
    SHAPE REAL el = (r - (eh - __L(1.0))) + __op_fma(r * r, __EXP_Q(r), rl);
    SHAPE INT k = (SHAPE INT)n;
    SHAPE REAL scale = __POW2(k - 3);
    SHAPE REAL inverse = (__L(1.0) / (eh + el)) * __POW2(-3 - __op_min(k, (uniform INT)60));
    return __L(4.0) * __op_fma(scale, eh, __op_fma(scale, el, inverse));
}

/// T tanh(T x), T a floating-point type
/// The hyperbolic tangent. tanh(+-0) is +-0, tanh(+-inf) is +-1.
/// Largest error measured: 0.72 ULP of float, 0.69 ULP of double.
static inline SHAPE REAL tanh(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    SHAPE REAL z = a * a;
    SHAPE REAL y = __op_fma(a * z, __TANH_P(z), a);
    if (!(a < __L(0.55))) {
        // 1 - 2 / (e^2a + 1), quotient and sums with their errors.
        SHAPE REAL v = __L(2.0) * __op_min(__TANH_IS_ONE, a);
        __EXP_REDUCE(v, n, r, rl)
        SHAPE REAL one_r = __L(1.0) + r;
        SHAPE REAL tail = (r - (one_r - __L(1.0))) + __op_fma(r * r, __EXP_Q(r), rl);
        SHAPE REAL scale = __POW2((SHAPE INT)n);
        SHAPE REAL eh = scale * one_r;
        SHAPE REAL el = scale * tail;
        SHAPE REAL d = eh + __L(1.0);
        SHAPE REAL dl = (__L(1.0) - (d - eh)) + el;
        SHAPE REAL q = __L(2.0) / d;
        SHAPE REAL ql = __op_fma(-q, dl, __op_fma(-q, d, __L(2.0))) / (d + dl);
        SHAPE REAL w = __L(1.0) - q;
        y = w + (((__L(1.0) - w) - q) - ql);
    }
    return __WITH_SIGN(y, x);
}

// log(2a) for a of at least 2^30.
static inline SHAPE REAL __log_of_twice(SHAPE REAL a) {
    __LOG_REDUCE(a, e0, f)
    __LOG_TAIL(f, c)
    SHAPE REAL e = e0 + __L(1.0);
    SHAPE REAL h = e * __LN2_SHORT_1;
    SHAPE REAL s = h + f;
    SHAPE REAL y = s + ((f - (s - h)) + __op_fma(e, __LN2_SHORT_2, c));
    return __op_select(a <= __MAX_FINITE, y, a);
}

/// T asinh(T x), T a floating-point type
/// The inverse hyperbolic sine. asinh(+-0) is +-0, asinh(+-inf) is +-inf.
/// Largest error measured: 0.87 ULP of float, 0.87 ULP of double.
static inline SHAPE REAL asinh(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    // log1p(a + a^2 / (1 + s)) with s = sqrt(1 + a^2), every step with its error; log(2a) where a^2 could overflow.
    SHAPE REAL v = __op_min(__ASINH_LIMIT, a);
    SHAPE REAL z = v * v;
    SHAPE REAL zl = __op_fma(v, v, -z);
    SHAPE REAL t = __L(1.0) + z;
    SHAPE REAL tl = __op_select(z < __L(1.0), z - (t - __L(1.0)), __L(1.0) - (t - z)) + zl;
    SHAPE REAL s = __op_sqrt(t);
    SHAPE REAL sl = (__op_fma(-s, s, t) + tl) / (s + s);
    SHAPE REAL d = __L(1.0) + s;
    SHAPE REAL dl = (__L(1.0) - (d - s)) + sl;
    SHAPE REAL inverse = __L(1.0) / d;
    SHAPE REAL q = z * inverse;
    SHAPE REAL ql = (__op_fma(-q, d, z) + __op_fma(-q, dl, zl)) * inverse;
    SHAPE REAL h = v + q;
    SHAPE REAL hl = (q - (h - v)) + ql;
    SHAPE REAL y = __log1p_pair(h, hl);
    if (!(a < __ASINH_LIMIT) | a < __ASINH_IS_X) {
        y = __op_select(a < __L(1.0), a, __log_of_twice(a));
    }
    return __WITH_SIGN(y, x);
}

/// T acosh(T x), T a floating-point type
/// The inverse hyperbolic cosine. acosh(1) is 0, acosh(inf) is inf, x < 1 gives NaN.
/// Largest error measured: 0.86 ULP of float, 0.81 ULP of double.
static inline SHAPE REAL acosh(SHAPE REAL x) {
    // log1p(t + sqrt(2t + t^2)) with t = x - 1, every step with its error; log(2x) where t^2 could overflow.
    SHAPE REAL v = __op_min(__ASINH_LIMIT, x);
    SHAPE REAL t = v - __L(1.0);
    SHAPE REAL tl = (v - t) - __L(1.0);
    SHAPE REAL t2 = t + t;
    SHAPE REAL u = __op_fma(t, t, t2);
    SHAPE REAL z = t * t;
    SHAPE REAL zl = __op_fma(t, t, -z);
    SHAPE REAL ul = __op_select(z < t2, z - (u - t2), t2 - (u - z)) + zl;
    SHAPE REAL s = __op_sqrt(u);
    SHAPE REAL sl = (__op_fma(-s, s, u) + __op_fma(t2 + __L(2.0), tl, ul)) / (s + s + __MIN_NORMAL);
    SHAPE REAL h = s + t;
    SHAPE REAL hl = (t - (h - s)) + (tl + sl);
    SHAPE REAL y = __log1p_pair(h, hl);
    if (!(x < __ASINH_LIMIT)) {
        y = __log_of_twice(x);
    }
    return __op_select(x < __L(1.0), __NAN, y);
}

/// T atanh(T x), T a floating-point type
/// The inverse hyperbolic tangent. atanh(+-0) is +-0, atanh(+-1) is +-inf, |x| > 1 gives NaN.
/// Largest error measured: 0.88 ULP of float, 0.88 ULP of double.
static inline SHAPE REAL atanh(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    // log1p(2a / (1 - a)) / 2, the quotient with its error.
    SHAPE REAL n = a + a;
    SHAPE REAL d = __L(1.0) - a;
    SHAPE REAL dl = (__L(1.0) - d) - a;
    SHAPE REAL inverse = __L(1.0) / d;
    SHAPE REAL q = n * inverse;
    SHAPE REAL ql = (__op_fma(-q, d, n) - q * dl) * inverse;
    SHAPE REAL y = __L(0.5) * __log1p_pair(q, ql);
    if (!(a < __L(1.0)) | a < __ASINH_IS_X) {
        y = __op_select(a < __L(1.0), a, __op_select(a == __L(1.0), __INF, __NAN));
    }
    return __WITH_SIGN(y, x);
}
