// Inverse trigonometric functions: float and double.
//
// asin and acos: a polynomial for |x| <= 1/2, else asin(x) = pi/2 - 2 asin(sqrt((1-x)/2)). atan: a polynomial for |x| <= 1/2,
// atan(x) = pi/4 + atan((x-1)/(x+1)) to 1, and atan(1/x) = pi/2 - atan(x) beyond. Constants, quotients and roots carry their rounding errors to the last sum.

// For a = |x|, declares t and tail with asin(t) = t + tail, where t = a if a <= 1/2 and sqrt((1-a)/2) beyond.
#define __ASIN_REDUCE(a, big, t, tail) \
    SHAPE bool big = (a) > __L(0.5); \
    SHAPE REAL t##2 = __op_select(big, __L(0.5) * (__L(1.0) - (a)), (a) * (a)); \
    SHAPE REAL t##root = __op_sqrt(t##2); \
    SHAPE REAL t##error = __op_fma(-t##root, t##root, t##2) / (t##root + t##root + __MIN_NORMAL); \
    SHAPE REAL t = __op_select(big, t##root, a); \
    SHAPE REAL tail = __op_fma(t * t##2, __ASIN_P(t##2), __op_select(big, t##error, __L(0.0)));

/// T asin(T x), T a floating-point type
/// The arc sine, in [-pi/2, pi/2]. asin(+-0) is +-0, |x| > 1 gives NaN.
/// Largest error measured: 0.70 ULP of float, 0.61 ULP of double.
static inline SHAPE REAL asin(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    __ASIN_REDUCE(a, big, t, tail)
    SHAPE REAL w = __PIO2_1 - (t + t);
    SHAPE REAL wl = (__PIO2_1 - w) - (t + t);
    SHAPE REAL y = __op_select(big, w + (wl + (__PIO2_2 - (tail + tail))), t + tail);
    return __WITH_SIGN(y, x);
}

/// T acos(T x), T a floating-point type
/// The arc cosine, in [0, pi]. acos(1) is +0, |x| > 1 gives NaN.
/// Largest error measured: 0.67 ULP of float, 0.60 ULP of double.
static inline SHAPE REAL acos(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    __ASIN_REDUCE(a, big, t, tail)
    // base - (v + vl): pi/2 - asin(x) in the middle, 0 + 2 asin(t) on the right, pi - 2 asin(t) on the left.
    SHAPE bool negative = x < __L(0.0);
    SHAPE REAL factor = __op_select(big, __L(2.0), __L(1.0));
    SHAPE REAL sign = __op_select(negative == big, factor, -factor);
    SHAPE REAL base = __op_select(big, __op_select(negative, __PI_1, __L(0.0)), __PIO2_1);
    SHAPE REAL base_low = __op_select(big, __op_select(negative, __PI_2, __L(0.0)), __PIO2_2);
    SHAPE REAL v = sign * t;
    SHAPE REAL vl = sign * tail;
    SHAPE REAL w = base - v;
    SHAPE REAL wl = (base - w) - v;
    return w + (wl + (base_low - vl));
}

// Declares y = |atan2(+-n, +-d)|, from the smaller and the larger of the magnitudes: with q = n/d, or (n-d)/(n+d) from
// q > 1/2 on, it is quarters * pi/4 +- (q + tail). steep: the magnitudes were swapped; left: x is negative.
#define __ATAN_CORE(n, d, steep, left, y) \
    SHAPE bool y##mid = (n) > __L(0.5) * (d); \
    SHAPE REAL y##sum = (n) + (d); \
    SHAPE REAL y##n = __op_select(y##mid, (n) - (d), n); \
    SHAPE REAL y##d = __op_select(y##mid, y##sum, d); \
    SHAPE REAL y##dl = __op_select(y##mid, (n) - (y##sum - (d)), __L(0.0)); \
    SHAPE REAL y##q = y##n / y##d; \
    SHAPE REAL y##ql = __op_fma(-y##q, y##dl, __op_fma(-y##q, y##d, y##n)) / y##d; \
    SHAPE REAL y##z = y##q * y##q; \
    SHAPE REAL y##tail = __op_fma(y##q * y##z, __ATAN_P(y##z), y##ql); \
    SHAPE bool y##minus = (steep) != (left); \
    SHAPE REAL y##base = __op_select(steep, __L(2.0), __op_select(left, __L(4.0), __L(0.0))); \
    SHAPE REAL y##step = __op_select(y##mid, __L(1.0), __L(0.0)); \
    SHAPE REAL y##quarters = y##base + __op_select(y##minus, -y##step, y##step); \
    SHAPE REAL y##v = __op_select(y##minus, -y##q, y##q); \
    SHAPE REAL y##vl = __op_select(y##minus, -y##tail, y##tail); \
    SHAPE REAL y##b = y##quarters * __PIO4_SHORT_1; \
    SHAPE REAL y##w = y##b + y##v; \
    SHAPE REAL y##wl = y##v - (y##w - y##b); \
    SHAPE REAL y = y##w + (y##wl + __op_fma(y##quarters, __PIO4_SHORT_2, y##vl));

/// T atan(T x), T a floating-point type
/// The arc tangent, in [-pi/2, pi/2]. atan(+-0) is +-0, atan(+-inf) is +-pi/2.
/// Largest error measured: 0.69 ULP of float, 0.67 ULP of double.
static inline SHAPE REAL atan(SHAPE REAL x) {
    SHAPE REAL a = __op_min(__SCALE_UP, __op_abs(x));
    SHAPE bool steep = a > __L(1.0);
    SHAPE REAL n = __op_select(steep, __L(1.0), a);
    SHAPE REAL d = __op_select(steep, a, __L(1.0));
    __ATAN_CORE(n, d, steep, (uniform bool)false, y)
    return __WITH_SIGN(y, x);
}

/// T atan2(T y, T x), T a floating-point type
/// The angle of the point (x, y), in [-pi, pi], with the sign of y; all special values as in C: atan2(+-0, +0) is +-0,
/// atan2(+-0, -0) is +-pi, atan2(+-inf, inf) is +-pi/4 and atan2(+-inf, -inf) is +-3pi/4.
/// Largest error measured: 1.00 ULP of float, 0.79 ULP of double.
static inline SHAPE REAL atan2(SHAPE REAL y, SHAPE REAL x) {
    SHAPE REAL ay = __op_abs(y);
    SHAPE REAL ax = __op_abs(x);
    SHAPE REAL sum = ax + ay;
    if (!(sum > __SCALE_DOWN & sum < __SCALE_UP)) {
        // Bring both to where the quotient's error can be computed; infinities and zeros become points at the same angle.
        SHAPE bool infinite = ax > __MAX_FINITE | ay > __MAX_FINITE;
        SHAPE REAL factor = __op_select(sum > __L(1.0), __SCALE_DOWN, __SCALE_UP);
        SHAPE REAL scaled_y = ay * factor;
        SHAPE REAL scaled_x = ax * factor;
        ay = __op_select(infinite, __op_select(ay > __MAX_FINITE, __L(1.0), __L(0.0)), scaled_y);
        ax = __op_select(infinite, __op_select(ax > __MAX_FINITE, __L(1.0), __L(0.0)), scaled_x);
        ax = __op_select(sum == __L(0.0), __L(1.0), ax);
        ax = __op_select(sum != sum, sum, ax);
        ay = __op_select(sum != sum, sum, ay);
    }
    SHAPE bool steep = ay > ax;
    SHAPE bool left = (__UBITS(x) & __SIGN_BIT) != 0;
    SHAPE REAL n = __op_min(ay, ax);
    SHAPE REAL d = __op_max(ay, ax);
    __ATAN_CORE(n, d, steep, left, result)
    return __WITH_SIGN(result, y);
}
