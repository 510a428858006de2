// Trigonometric functions: float and double.
//
// The angle is reduced to a multiple of pi/2 and a remainder hi + lo. Where that is good enough by Cody and Waite's method with
// pi/2 in three parts and fused multiply-adds (n * part 1 is subtracted without error, as the difference is a multiple of
// the last bit of part 1 and below 1); elsewhere by Payne and Hanek's ("Radian reduction for trigonometric functions",
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

// Declares r + rl = x - n pi/2 and z = r^2, bits, whose last two are those of the whole number n, and huge: whether
// __reduce_huge is to take over, because x is so large, or x and the first two parts have cancelled so far, that an error would
// show.
//
// The second part has so few digits that n times it is exact up to four times __TRIG_FEW, and with it r1 - r: only the third
// part's error counts, which is so small that most of the floating-point numbers nearest to multiples of pi/2 stay here. Of larger n
// the error of r1 - r counts. With fewer digits still, n times the third part, in rl, would be too large for what is below.
//
// Adding __TO_WHOLE rounds to a whole number, whose digits are then the last of the sum's. The parts of pi/2 are positive,
// so that r is -0 where x is.
#define __TRIG_REDUCE(x, bits, r, rl, z, huge) \
    SHAPE REAL r##t = __op_fma(x, __TWO_OVER_PI, __TO_WHOLE); \
    SHAPE UINT bits = __UBITS(r##t); \
    SHAPE REAL r##n = r##t - __TO_WHOLE; \
    SHAPE REAL r##1 = __op_fma(r##n, -__PIO2_DOWN_1, x); \
    SHAPE REAL r = __op_fma(r##n, -__PIO2_DOWN_2, r##1); \
    SHAPE REAL rl = __op_fma(r##n, -__PIO2_DOWN_3, __op_fma(r##n, -__PIO2_DOWN_2, r##1 - r)); \
    SHAPE REAL z = r * r; \
    SHAPE REAL r##m = __op_abs(r##n); \
    SHAPE REAL r##many = __op_fma(r##m, __TRIG_CANCELLED_MANY, -(__TRIG_CANCELLED_MANY * __TRIG_FEW)); \
    SHAPE bool huge = !(__op_abs(r) >= __op_max(r##m * __TRIG_CANCELLED_FEW, r##many));

// The same of a huge x, but of its magnitude.
#define __TRIG_REDUCE_HUGE(x, bits, r, rl, z) \
    SHAPE __ANGLE r##angle = __reduce_huge(__op_abs(x)); \
    SHAPE UINT bits = (SHAPE UINT)r##angle.quadrant; \
    SHAPE REAL r = r##angle.hi; \
    SHAPE REAL rl = r##angle.lo; \
    SHAPE REAL z = r * r;

// sin(r + rl) = r + sin_tail and cos(r + rl) = c + cos_tail, for |r| <= pi/4, z = r^2 and c = 1 - r^2/2.
#define __COS_HEAD(z) __op_fma(__L(-0.5), z, __L(1.0))
#define __SIN_TAIL(r, rl, z, c) __op_fma((r) * (z), __SIN_P(z), (rl) * (c))
#define __COS_TAIL(r, rl, z, c) \
    __op_fma((z) * (z), __COS_P(z), __op_fma(-(r), rl, __op_fma(__L(-0.5), z, __L(1.0) - (c))))

// Declares s and c, the sine and the cosine of r + rl. The sine of -0 is -0.
#define __SIN_COS(r, rl, z, s, c) \
    SHAPE REAL c##h = __COS_HEAD(z); \
    SHAPE REAL s = __op_select((r) == __L(0.0), r, (r) + __SIN_TAIL(r, rl, z, c##h)); \
    SHAPE REAL c = c##h + __COS_TAIL(r, rl, z, c##h);

// From the sine and the cosine of the remainder those of the angle, by the last two bits of its multiple.
#define __IS_ODD_MULTIPLE(bits) (((bits) & 1) != 0)
// (A choice takes fewer instructions than a change of the sign in the bits of what may be a NaN.)
static inline SHAPE REAL __negate_if_bit_1(SHAPE REAL y, SHAPE UINT bits) {
    return __op_select((bits & 2) != 0, -y, y);
}
#define __SIN_OF(bits, s, c) __negate_if_bit_1(__op_select(__IS_ODD_MULTIPLE(bits), c, s), bits)
#define __COS_OF(bits, s, c) __negate_if_bit_1(__op_select(__IS_ODD_MULTIPLE(bits), s, c), (bits) + 1)

// y with the sign changed if that of x is set.
#define __TIMES_SIGN(y, x) __FROM_BITS(__UBITS(y) ^ (__UBITS(x) & __SIGN_BIT))

#ifdef __FP_FAST
// As above, without rl.
#define __TRIG_REDUCE_FAST(x, bits, r, z, huge) \
    SHAPE REAL r##t = __op_fma(x, __TWO_OVER_PI, __TO_WHOLE); \
    SHAPE UINT bits = __UBITS(r##t); \
    SHAPE REAL r##n = r##t - __TO_WHOLE; \
    SHAPE REAL r = __op_fma(r##n, -__PIO2_DOWN_3, __op_fma(r##n, -__PIO2_DOWN_2, __op_fma(r##n, -__PIO2_DOWN_1, x))); \
    SHAPE REAL z = r * r; \
    SHAPE bool huge = !(__op_abs(x) < __TRIG_LIMIT);

#define __SIN_COS_FAST(r, z, s, c) \
    SHAPE REAL s = (r) * __op_fma(z, __SIN_P(z), __L(1.0)); \
    SHAPE REAL c = __op_fma((z) * (z), __COS_P(z), __COS_HEAD(z));

// What the functions below compute first.
#define __TRIG_USUAL(x, bits, s, c, huge) \
    __TRIG_REDUCE_FAST(x, bits, r, z, huge) \
    __SIN_COS_FAST(r, z, s, c)
#else
#define __TRIG_USUAL(x, bits, s, c, huge) \
    __TRIG_REDUCE(x, bits, r, rl, z, huge) \
    __SIN_COS(r, rl, z, s, c)
#endif

static inline SHAPE REAL __sin_huge(SHAPE REAL x) {
    __TRIG_REDUCE_HUGE(x, bits, r, rl, z)
    __SIN_COS(r, rl, z, s, c)
    return __TIMES_SIGN(__SIN_OF(bits, s, c), x);
}

static inline SHAPE REAL __cos_huge(SHAPE REAL x) {
    __TRIG_REDUCE_HUGE(x, bits, r, rl, z)
    __SIN_COS(r, rl, z, s, c)
    return __COS_OF(bits, s, c);
}

/// T sin(T x), T a floating-point type
/// The sine of x radians, accurate for every finite x. sin(+-0) is +-0, sin(+-inf) is NaN.
/// Largest error measured: 0.80 ULP of float, 0.77 ULP of double.
static inline SHAPE REAL sin(SHAPE REAL x) {
    __TRIG_USUAL(x, bits, s, c, huge)
    SHAPE REAL y = __SIN_OF(bits, s, c);
    if (huge) {
        y = __sin_huge(x);
    }
    return y;
}

/// T cos(T x), T a floating-point type
/// The cosine of x radians, accurate for every finite x. cos(+-inf) is NaN.
/// Largest error measured: 0.79 ULP of float, 0.77 ULP of double.
static inline SHAPE REAL cos(SHAPE REAL x) {
    __TRIG_USUAL(x, bits, s, c, huge)
    SHAPE REAL y = __COS_OF(bits, s, c);
    if (huge) {
        y = __cos_huge(x);
    }
    return y;
}

/// void sincos(T x, T *sine, T *cosine), T a floating-point type
/// Stores the sine and the cosine of x radians, the same as sin(x) and cos(x), in about the time of one.
/// Largest error measured: 0.80 ULP of float, 0.77 ULP of double.
static inline void sincos(SHAPE REAL x, SHAPE REAL *uniform sine, SHAPE REAL *uniform cosine) {
    __TRIG_USUAL(x, bits, s, c, huge)
    SHAPE REAL sin_x = __SIN_OF(bits, s, c);
    SHAPE REAL cos_x = __COS_OF(bits, s, c);
    if (huge) {
        sin_x = __sin_huge(x);
        cos_x = __cos_huge(x);
    }
    *sine = sin_x;
    *cosine = cos_x;
}

// The tangent by the sine sh + sl and the cosine ch + cl of the remainder: sin/cos, or -cos/sin of odd multiples, with
// one step of correction of the quotient.
#define __TAN_OF(bits, r, rl, z) \
    SHAPE REAL c = __COS_HEAD(z); \
    SHAPE REAL st = __SIN_TAIL(r, rl, z, c); \
    SHAPE REAL ct = __COS_TAIL(r, rl, z, c); \
    SHAPE REAL sh = __op_select((r) == __L(0.0), r, (r) + st); \
    SHAPE REAL sl = ((r) - sh) + st; \
    SHAPE REAL ch = c + ct; \
    SHAPE REAL cl = (c - ch) + ct; \
    SHAPE bool odd = __IS_ODD_MULTIPLE(bits); \
    SHAPE REAL nh = __op_select(odd, ch, sh); \
    SHAPE REAL nl = __op_select(odd, cl, sl); \
    SHAPE REAL dh = __op_select(odd, sh, ch); \
    SHAPE REAL dl = __op_select(odd, sl, cl); \
    SHAPE REAL inverse = __L(1.0) / dh; \
    SHAPE REAL q = nh * inverse; \
    SHAPE REAL correction = (__op_fma(-q, dh, nh) + __op_fma(-q, dl, nl)) * inverse; \
    SHAPE REAL quotient = __op_select(q == __L(0.0), q, q + correction); \
    SHAPE REAL tangent = __op_select(odd, -quotient, quotient);

static inline SHAPE REAL __tan_huge(SHAPE REAL x) {
    __TRIG_REDUCE_HUGE(x, bits, r, rl, z)
    __TAN_OF(bits, r, rl, z)
    return __TIMES_SIGN(tangent, x);
}

/// T tan(T x), T a floating-point type
/// The tangent of x radians, accurate for every finite x. tan(+-0) is +-0, tan(+-inf) is NaN.
/// Largest error measured: 0.96 ULP of float, 0.91 ULP of double.
static inline SHAPE REAL tan(SHAPE REAL x) {
#ifdef __FP_FAST
    __TRIG_USUAL(x, bits, s, c, huge)
    SHAPE bool odd = __IS_ODD_MULTIPLE(bits);
    SHAPE REAL quotient = __op_select(odd, c, s) / __op_select(odd, s, c);
    SHAPE REAL y = __op_select(odd, -quotient, quotient);
#else
    __TRIG_REDUCE(x, bits, r, rl, z, huge)
    __TAN_OF(bits, r, rl, z)
    SHAPE REAL y = tangent;
#endif
    if (huge) {
        y = __tan_huge(x);
    }
    return y;
}
