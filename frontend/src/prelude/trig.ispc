// Trigonometric functions: float and double.
//
// The angle is reduced to a multiple of pi/2 and a remainder hi + lo. Up to __TRIG_LIMIT by Cody and Waite's method with
// pi/2 in three parts and fused multiply-adds (n * part 1 is subtracted without error, as the difference is a multiple of
// the last bit of part 1 and below 1); beyond, by Payne and Hanek's ("Radian reduction for trigonometric functions",
// SIGNUM Newsletter 1983): the angle's integer significand times the digits of 2/pi that matter, modulo 4.

// Payne and Hanek's reduction, for a >= 1.
static inline SHAPE __ANGLE __reduce_huge(SHAPE REAL a) {
    // a = significand * 2^exponent. Digits of 2/pi whose products are multiples of 4 are skipped; the 192 that follow are
    // enough, as no multiple of pi/2 comes closer to a number of the format than about its precision again.
    SHAPE UINT bits = __UBITS(a);
    SHAPE uint64 significand = (SHAPE uint64)((bits & __MANTISSA_MASK) | __MIN_NORMAL_BITS);
    SHAPE int exponent = (SHAPE int)(bits >> __MANTISSA_BITS) - (__BIAS + __MANTISSA_BITS);
    SHAPE int start = exponent + 62;
    SHAPE int word = start >> 6;
    SHAPE uint64 shift = (SHAPE uint64)(start & 63);
    SHAPE uint64 d0 = __two_over_pi[word];
    SHAPE uint64 d1 = __two_over_pi[word + 1];
    SHAPE uint64 d2 = __two_over_pi[word + 2];
    SHAPE uint64 d3 = __two_over_pi[word + 3];
    SHAPE uint64 w0 = (d0 << shift) | ((d1 >> 1) >> (63 - shift));
    SHAPE uint64 w1 = (d1 << shift) | ((d2 >> 1) >> (63 - shift));
    SHAPE uint64 w2 = (d2 << shift) | ((d3 >> 1) >> (63 - shift));
    // The upper 128 of the product's 192 bits: two of quadrant and 126 of fraction.
    SHAPE uint64 middle = significand * w1;
    SHAPE uint64 low = middle + __op_mulhi(significand, w2);
    SHAPE uint64 carry = __op_select(low < middle, (uniform uint64)1, (uniform uint64)0);
    SHAPE uint64 high = significand * w0 + __op_mulhi(significand, w1) + carry;
    SHAPE uint64 fraction_high = (high << 2) | (low >> 62);
    SHAPE uint64 fraction_low = low << 2;
    // To the nearest multiple: a fraction of a half or more becomes a negative one.
    SHAPE uint64 round = fraction_high >> 63;
    SHAPE uint64 flip = (SHAPE uint64)0 - round;
    SHAPE uint64 magnitude_low = (fraction_low ^ flip) + round;
    SHAPE uint64 flipped_high = fraction_high ^ flip;
    SHAPE uint64 magnitude_high = __op_select(magnitude_low == 0, flipped_high + round, flipped_high);
    // fraction * pi/2 as a sum of two.
    SHAPE REAL h = (SHAPE REAL)(SHAPE int64)magnitude_high;
    SHAPE REAL rest = (SHAPE REAL)((SHAPE int64)magnitude_high - (SHAPE int64)h);
    SHAPE REAL l = __op_fma((SHAPE REAL)magnitude_low, __TWO_TO_MINUS_64, rest);
    SHAPE REAL fh = h + l;
    SHAPE REAL fl = (h - fh) + l;
    SHAPE REAL sign = __op_select(round != 0, -__TWO_TO_MINUS_64, __TWO_TO_MINUS_64);
    SHAPE REAL th = fh * sign;
    SHAPE REAL tl = fl * sign;
    SHAPE __ANGLE result;
    SHAPE REAL p = th * __PIO2_1;
    SHAPE REAL pl = __op_fma(th, __PIO2_1, -p) + __op_fma(th, __PIO2_2, tl * __PIO2_1);
    SHAPE REAL sum = p + pl;
    result.hi = sum + (a - a);
    result.lo = (p - sum) + pl;
    result.quadrant = (SHAPE INT)((high >> 62) + round);
    return result;
}

// Declares quadrant and r + rl = a - quadrant * pi/2 for a >= 0 (infinities and NaN give NaN). __reduce_huge
// takes over beyond the limit, and where the first two parts cancelled so far that the error of r - r1 would show.
#define __TRIG_REDUCE(a, quadrant, r, rl) \
    SHAPE REAL r##n = __op_round_even((a) * __TWO_OVER_PI); \
    SHAPE REAL r##1 = __op_fma(r##n, -__PIO2_1, a); \
    SHAPE REAL r = __op_fma(r##n, -__PIO2_2, r##1); \
    SHAPE REAL rl = __op_fma(r##n, -__PIO2_3, __op_fma(r##n, -__PIO2_2, r##1 - r)); \
    SHAPE INT quadrant = (SHAPE INT)r##n; \
    if (!((a) < __TRIG_LIMIT) | __op_abs(r) < r##n * __TRIG_CANCELLED) { \
        SHAPE __ANGLE r##huge = __reduce_huge(a); \
        r = r##huge.hi; \
        rl = r##huge.lo; \
        quadrant = r##huge.quadrant; \
    }

// sin(r + rl) = r + sin_tail and cos(r + rl) = c + cos_tail, for |r| <= pi/4 and c = 1 - r^2/2.
#define __SIN_TAIL(r, rl, z, c) __op_fma((r) * (z), __SIN_P(z), (rl) * (c))
#define __COS_PARTS(r, rl, z, c, tail) \
    SHAPE REAL c##half = __L(0.5) * (z); \
    SHAPE REAL c = __L(1.0) - c##half; \
    SHAPE REAL tail = __op_fma((z) * (z), __COS_P(z), __op_fma(-(r), rl, (__L(1.0) - c) - c##half));

// y, negated where bit is 1 (bit is 0 or 1) or, for the second form, where exactly one of bit and the sign of x is set.
#define __NEGATE_IF(y, bit) __FROM_BITS(__UBITS(y) ^ ((SHAPE UINT)(bit) << __SIGN_SHIFT))
#define __NEGATE_IF_OR_NEGATIVE(y, bit, x) \
    __FROM_BITS(__UBITS(y) ^ ((SHAPE UINT)(bit) << __SIGN_SHIFT) ^ (__UBITS(x) & __SIGN_BIT))

/// T sin(T x), T a floating-point type
/// The sine of x radians, accurate for every finite x. sin(+-0) is +-0, sin(+-inf) is NaN.
/// Largest error measured: 0.79 ULP of float, 0.77 ULP of double.
#ifdef __FP_FAST
// Declares quadrant and r, about a - quadrant * pi/2, for a >= 0.
#define __TRIG_REDUCE_FAST(a, quadrant, r) \
    SHAPE REAL r##n = __op_round_even((a) * __TWO_OVER_PI); \
    SHAPE REAL r = __op_fma(r##n, -__PIO2_3, __op_fma(r##n, -__PIO2_2, __op_fma(r##n, -__PIO2_1, a))); \
    SHAPE INT quadrant = (SHAPE INT)r##n; \
    if (!((a) < __TRIG_LIMIT)) { \
        SHAPE __ANGLE r##huge = __reduce_huge(a); \
        r = r##huge.hi; \
        quadrant = r##huge.quadrant; \
    }

// The sine and the cosine of r, z = r^2, for |r| <= pi/4.
#define __SIN_FAST(r, z) __op_fma((r) * (z), __SIN_P(z), r)
#define __COS_FAST(z) __op_fma((z) * (z), __COS_P(z), __op_fma(z, __L(-0.5), __L(1.0)))

static inline SHAPE REAL sin(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    __TRIG_REDUCE_FAST(a, quadrant, r)
    SHAPE REAL z = r * r;
    SHAPE REAL y = __op_select((quadrant & 1) != 0, __COS_FAST(z), __SIN_FAST(r, z));
    return __NEGATE_IF_OR_NEGATIVE(y, (quadrant >> 1) & 1, x);
}
#else
static inline SHAPE REAL sin(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    __TRIG_REDUCE(a, quadrant, r, rl)
    SHAPE REAL z = r * r;
    __COS_PARTS(r, rl, z, ch, ct)
    SHAPE REAL s = r + __SIN_TAIL(r, rl, z, ch);
    SHAPE REAL y = __op_select((quadrant & 1) != 0, ch + ct, s);
    return __NEGATE_IF_OR_NEGATIVE(y, (quadrant >> 1) & 1, x);
}
#endif

/// T cos(T x), T a floating-point type
/// The cosine of x radians, accurate for every finite x. cos(+-inf) is NaN.
/// Largest error measured: 0.79 ULP of float, 0.77 ULP of double.
#ifdef __FP_FAST
static inline SHAPE REAL cos(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    __TRIG_REDUCE_FAST(a, quadrant, r)
    SHAPE REAL z = r * r;
    SHAPE REAL y = __op_select((quadrant & 1) != 0, __SIN_FAST(r, z), __COS_FAST(z));
    return __NEGATE_IF(y, ((quadrant + 1) >> 1) & 1);
}
#else
static inline SHAPE REAL cos(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    __TRIG_REDUCE(a, quadrant, r, rl)
    SHAPE REAL z = r * r;
    __COS_PARTS(r, rl, z, ch, ct)
    SHAPE REAL s = r + __SIN_TAIL(r, rl, z, ch);
    SHAPE REAL y = __op_select((quadrant & 1) != 0, s, ch + ct);
    return __NEGATE_IF(y, ((quadrant + 1) >> 1) & 1);
}
#endif

/// void sincos(T x, T *sine, T *cosine), T a floating-point type
/// Stores the sine and the cosine of x radians, the same as sin(x) and cos(x), in about the time of one.
/// Largest error measured: 0.79 ULP of float, 0.77 ULP of double.
#ifdef __FP_FAST
static inline void sincos(SHAPE REAL x, SHAPE REAL *uniform sine, SHAPE REAL *uniform cosine) {
    SHAPE REAL a = __op_abs(x);
    __TRIG_REDUCE_FAST(a, quadrant, r)
    SHAPE REAL z = r * r;
    SHAPE REAL s = __SIN_FAST(r, z);
    SHAPE REAL c = __COS_FAST(z);
    SHAPE bool odd = (quadrant & 1) != 0;
    *sine = __NEGATE_IF_OR_NEGATIVE(__op_select(odd, c, s), (quadrant >> 1) & 1, x);
    *cosine = __NEGATE_IF(__op_select(odd, s, c), ((quadrant + 1) >> 1) & 1);
}
#else
static inline void sincos(SHAPE REAL x, SHAPE REAL *uniform sine, SHAPE REAL *uniform cosine) {
    SHAPE REAL a = __op_abs(x);
    __TRIG_REDUCE(a, quadrant, r, rl)
    SHAPE REAL z = r * r;
    __COS_PARTS(r, rl, z, ch, ct)
    SHAPE REAL s = r + __SIN_TAIL(r, rl, z, ch);
    SHAPE REAL c = ch + ct;
    SHAPE bool odd = (quadrant & 1) != 0;
    *sine = __NEGATE_IF_OR_NEGATIVE(__op_select(odd, c, s), (quadrant >> 1) & 1, x);
    *cosine = __NEGATE_IF(__op_select(odd, s, c), ((quadrant + 1) >> 1) & 1);
}
#endif

/// T tan(T x), T a floating-point type
/// The tangent of x radians, accurate for every finite x. tan(+-0) is +-0, tan(+-inf) is NaN.
/// Largest error measured: 0.96 ULP of float, 0.91 ULP of double.
#ifdef __FP_FAST
static inline SHAPE REAL tan(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    __TRIG_REDUCE_FAST(a, quadrant, r)
    SHAPE REAL z = r * r;
    SHAPE REAL s = __SIN_FAST(r, z);
    SHAPE REAL c = __COS_FAST(z);
    SHAPE bool odd = (quadrant & 1) != 0;
    SHAPE REAL y = __op_select(odd, c, s) / __op_select(odd, s, c);
    return __NEGATE_IF_OR_NEGATIVE(y, quadrant & 1, x);
}
#else
static inline SHAPE REAL tan(SHAPE REAL x) {
    SHAPE REAL a = __op_abs(x);
    __TRIG_REDUCE(a, quadrant, r, rl)
    SHAPE REAL z = r * r;
    __COS_PARTS(r, rl, z, c, ct)
    SHAPE REAL st = __SIN_TAIL(r, rl, z, c);
    SHAPE REAL sh = r + st;
    SHAPE REAL sl = (r - sh) + st;
    SHAPE REAL ch = c + ct;
    SHAPE REAL cl = (c - ch) + ct;
    // sin/cos, or -cos/sin in odd quadrants; both with their errors, and one step of correction of the quotient.
    SHAPE bool odd = (quadrant & 1) != 0;
    SHAPE REAL nh = __op_select(odd, ch, sh);
    SHAPE REAL nl = __op_select(odd, cl, sl);
    SHAPE REAL dh = __op_select(odd, sh, ch);
    SHAPE REAL dl = __op_select(odd, sl, cl);
    SHAPE REAL q = nh / dh;
    SHAPE REAL y = q + (__op_fma(-q, dh, nh) + __op_fma(-q, dl, nl)) / dh;
    return __NEGATE_IF_OR_NEGATIVE(y, quadrant & 1, x);
}
#endif
