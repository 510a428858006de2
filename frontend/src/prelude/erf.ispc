// The error function and its complement: float and double.
//
// Below 0.8 (erf) and 1/2 (erfc) an odd polynomial. Beyond, erfc(x) = exp(-x^2) P(q) / (1 + 2x) with q = (x-K)/(x+K), one
// polynomial for the whole range (Shepherd and Laframboise, "Chebyshev approximation of (1+2x) exp(x^2) erfc x in
// 0 <= x < inf", Mathematics of Computation 36, 1981), every factor an unevaluated sum of two.

// Declares h + l = erfc(x) / 2^n for x between 0.45 and __ERFC_IS_ZERO.
#define __ERFC_CORE(x, n, h, l) \
    SHAPE REAL h##num = (x) - __ERFCX_K; \
    SHAPE REAL h##den = (x) + __ERFCX_K; \
    SHAPE REAL h##q = h##num / h##den; \
    SHAPE REAL h##u = h##q * __ERFCX_P(h##q); \
    SHAPE REAL h##p = __ERFCX_C0_1 + h##u; \
    SHAPE REAL h##pl = ((__ERFCX_C0_1 - h##p) + h##u) + __ERFCX_C0_2; \
    SHAPE REAL h##d = __op_fma(__L(2.0), x, __L(1.0)); \
    SHAPE REAL h##dl = __op_fma(__L(2.0), x, __L(1.0) - h##d); \
    SHAPE REAL h##i = __L(1.0) / h##d; \
    SHAPE REAL h##f = h##p * h##i; \
    SHAPE REAL h##fl = (__op_fma(-h##f, h##d, h##p) + __op_fma(-h##f, h##dl, h##pl)) * h##i; \
    SHAPE REAL h##xx = -((x) * (x)); \
    SHAPE REAL h##xl = -__op_fma(x, x, h##xx); \
    __EXP_REDUCE(h##xx, n, h##r, h##rl) \
    SHAPE REAL h##e = __L(1.0) + h##r; \
    SHAPE REAL h##rr = (h##r * h##r) * __EXP_Q(h##r); \
    SHAPE REAL h##t = __op_fma(h##rl + h##xl, h##e + h##rr, h##rr); \
    SHAPE REAL h##el = (h##r - (h##e - __L(1.0))) + h##t; \
    SHAPE REAL h = h##e * h##f; \
    SHAPE REAL l = __op_fma(h##e, h##fl, __op_fma(h##el, h##f, __op_fma(h##e, h##f, -h)));

/// T erf(T x), T a floating-point type
/// The error function. erf(+-0) is +-0, erf(+-inf) is +-1.
/// Largest error measured: 1.00 ULP of float, 0.92 ULP of double.
static inline SHAPE REAL erf(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    SHAPE REAL z = a * a;
    SHAPE REAL tail = __op_fma(a * z, __ERF_P(z), a * __TWO_OVER_SQRT_PI_2);
    SHAPE REAL y = __op_fma(a, __TWO_OVER_SQRT_PI_1, tail);
    if (!(a < __L(0.8))) {
        SHAPE REAL v = __op_min(__ERF_IS_ONE, a);
        __ERFC_CORE(v, n, h, l)
        SHAPE REAL scale = __POW2((SHAPE INT)n);
        SHAPE REAL w = __op_fma(-scale, h, __L(1.0));
        SHAPE REAL wl = __op_fma(-scale, h, __L(1.0) - w);
        y = w + __op_fma(-scale, l, wl);
    }
    return __WITH_SIGN(y, x);
}

/// T erfc(T x), T a floating-point type
/// 1 - erf(x), accurate where it is small. erfc(-inf) is 2, erfc(inf) is 0, underflow is gradual.
/// Largest error measured: 0.93 ULP of float, 1.07 ULP of double.
static inline SHAPE REAL erfc(SHAPE REAL x) {
    SHAPE REAL z = x * x;
    SHAPE REAL e = x * __TWO_OVER_SQRT_PI_1;
    SHAPE REAL el = __op_fma(x, __op_fma(z, __ERF_P(z), __TWO_OVER_SQRT_PI_2), __op_fma(x, __TWO_OVER_SQRT_PI_1, -e));
    SHAPE REAL s = __L(1.0) - e;
    SHAPE REAL y = s + (((__L(1.0) - s) - e) - el);
    SHAPE REAL a = __op_abs(x);
    if (!(a < __L(0.5))) {
        SHAPE REAL v = __op_min(__ERFC_IS_ZERO, a);
        __ERFC_CORE(v, n, h, l)
        SHAPE REAL sum = h + l;
        SHAPE REAL tail = __SCALE_FAR(sum, n);
        SHAPE REAL scale = __POW2(__op_max((SHAPE INT)n, (uniform INT)(-100)));
        SHAPE REAL w = __op_fma(-scale, h, __L(2.0));
        SHAPE REAL wl = __op_fma(-scale, h, __L(2.0) - w);
        y = __op_select(x < __L(0.0), w + __op_fma(-scale, l, wl), tail);
    }
    return y;
}
