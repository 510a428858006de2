// Cube root and Euclidean distance: float and double.

/// T cbrt(T x), T a floating-point type
/// The real cube root. cbrt(+-0) is +-0, cbrt(+-inf) is +-inf.
/// Correctly rounded in all cases measured.
static inline SHAPE REAL cbrt(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    SHAPE REAL after = __L(1.0);
    if (!(a > __SCALE_DOWN & a < __SCALE_UP)) {
        // Scale by a cube; 0, infinity and NaN stand in for the factor.
        SHAPE bool large = a > __L(1.0);
        SHAPE bool plain = a > __L(0.0) & a <= __MAX_FINITE;
        after = __op_select(plain, __op_select(large, __CBRT_SCALE_UP_ROOT, __CBRT_SCALE_DOWN_ROOT), a);
        a = __op_select(plain, a * __op_select(large, __SCALE_DOWN, __SCALE_UP), __L(1.0));
    }
    // A third of the exponent field gives 3% (Kahan); with a guess g = cbrt(a (1+u)), g (1+u)^(-1/3) by a polynomial; then
    // a Newton step on the residual g^3 - a, computed to twice the precision.
    SHAPE REAL guess = __CBRT_GUESS(a);
    SHAPE REAL inverse = __L(1.0) / a;
    SHAPE REAL u = __op_fma(guess * guess, guess * inverse, __L(-1.0));
    SHAPE REAL g = __op_fma(guess * u, __CBRT_P(u), guess);
    SHAPE REAL g2 = g * g;
    SHAPE REAL g2l = __op_fma(g, g, -g2);
    SHAPE REAL residual = __op_fma(g2l, g, __op_fma(g2, g, -a));
    SHAPE REAL y = __op_fma(g * __THIRD_1, -(residual * inverse), g);
    return __WITH_SIGN(y * after, x);
}

/// T hypot(T x, T y), T a floating-point type
/// sqrt(x^2 + y^2) without undue overflow or underflow. hypot(+-inf, y) is inf even for NaN y.
/// Largest error measured: 0.75 ULP of float, 0.50 ULP of double.
static inline SHAPE REAL hypot(SHAPE REAL x, SHAPE REAL y) {
    SHAPE REAL ax = __op_abs(x);
    SHAPE REAL ay = __op_abs(y);
    SHAPE REAL sum = ax + ay;
    SHAPE REAL a = __op_max(ax, ay);
    SHAPE REAL b = __op_min(ax, ay);
    SHAPE REAL after = __L(1.0);
    if (!(sum > __HYPOT_SMALL & sum < __HYPOT_LARGE)) {
        // Scale by a power of two; 0, infinity and NaN stand in for the factor.
        SHAPE bool large = sum > __L(1.0);
        SHAPE bool infinite = ax > __MAX_FINITE | ay > __MAX_FINITE;
        SHAPE bool plain = sum > __L(0.0) & !infinite;
        SHAPE REAL factor = __op_select(large, __SCALE_DOWN, __SCALE_UP);
        after = __op_select(infinite, __INF,
                            __op_select(plain, __op_select(large, __SCALE_UP, __SCALE_DOWN), sum));
        a = __op_select(plain, a * factor, __L(1.0));
        b = __op_select(plain, b * factor, __L(0.0));
    }
    // Borges, "An improved algorithm for hypot(a,b)" (2019): the root of the fused sum, corrected by its residual.
    SHAPE REAL h = __op_sqrt(__op_fma(a, a, b * b));
    SHAPE REAL h2 = h * h;
    SHAPE REAL a2 = a * a;
    SHAPE REAL residual = __op_fma(-b, b, h2 - a2) + __op_fma(h, h, -h2) - __op_fma(a, a, -a2);
    return (h - residual / (h + h)) * after;
}
