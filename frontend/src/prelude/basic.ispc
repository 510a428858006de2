// Elementary functions that are one operation, or nearly, for every element type that has them.

#define __DEFINE(T) static inline SHAPE T abs(SHAPE T x) { return __op_abs(x); }
/// T abs(T x), T a signed integer or floating-point type
/// The absolute value. abs of the smallest integer is itself (it wraps).
__EACH_SIGNED(__DEFINE)
__EACH_FLOAT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T floor(SHAPE T x) { return __op_floor(x); }
/// T floor(T x), T a floating-point type
/// The largest whole number not above x. Infinities, NaN and the sign of zero pass through.
__EACH_FLOAT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T ceil(SHAPE T x) { return __op_ceil(x); }
/// T ceil(T x), T a floating-point type
/// The smallest whole number not below x.
__EACH_FLOAT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T trunc(SHAPE T x) { return __op_trunc(x); }
/// T trunc(T x), T a floating-point type
/// x without its fraction: rounded towards zero.
__EACH_FLOAT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T round(SHAPE T x) { return __op_round_even(x); }
/// T round(T x), T a floating-point type
/// The whole number nearest to x, of two equally near ones the even one.
__EACH_FLOAT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T sqrt(SHAPE T x) { return __op_sqrt(x); }
/// T sqrt(T x), T a floating-point type
/// The square root, correctly rounded. sqrt(-0) is -0, other negative x give NaN.
__EACH_FLOAT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T min(SHAPE T a, SHAPE T b) { return __op_min(a, b); }
/// T min(T a, T b), T any number type
/// a < b ? a : b. So if one of them is NaN the result is b.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T max(SHAPE T a, SHAPE T b) { return __op_max(a, b); }
/// T max(T a, T b), T any number type
/// a > b ? a : b. So if one of them is NaN the result is b.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) \
    static inline SHAPE T clamp(SHAPE T x, SHAPE T low, SHAPE T high) { return __op_min(__op_max(x, low), high); }
/// T clamp(T x, T low, T high), T any number type
/// x, but at least low and at most high: min(max(x, low), high).
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

// A rounded quotient below 2^22 (2^51) is, cut off, the right one or one more. What it leaves is exact, as it is a multiple of the last place
// of x or of y, and at most y; if it was one more, that has the other sign.
#define __DEFINE(T, BITS, F, U, SIGN, LIMIT, LARGEST) \
    static inline SHAPE T fmod(SHAPE T x, SHAPE T y) { \
        SHAPE T quotient = x / y, size = __op_abs(y), result = x; \
        if ((__op_abs(quotient) < LIMIT) & (size <= LARGEST)) { \
            SHAPE T left = __op_fma(-__op_trunc(quotient), y, x); \
            SHAPE BITS sign = __op_bitcast_##U(x) & SIGN; \
            SHAPE T along = __op_bitcast_##F(__op_bitcast_##U(left) ^ sign); \
            along = along < 0 ? along + size : __op_abs(along); \
            result = __op_bitcast_##F(__op_bitcast_##U(along) | sign); \
        } else { \
            result = __op_frem(x, y); \
        } \
        return result; \
    }
/// T fmod(T x, T y), T a floating-point type
/// The remainder of x / y with the quotient rounded towards zero, exact, with the sign of x. y = 0 or infinite x give NaN,
/// whose signbits are those of x, too.
__DEFINE(float, uint32, f32, u32, 0x80000000u, 4194304.0f, 3.4028234663852886e38f)
__DEFINE(double, uint64, f64, u64, 0x8000000000000000ull, 2251799813685248.0d, 1.7976931348623157e308d)
static inline SHAPE float16 fmod(SHAPE float16 x, SHAPE float16 y) { return __op_frem(x, y); }
#undef __DEFINE

#define __DEFINE(T) \
    static inline SHAPE T avg_up(SHAPE T a, SHAPE T b) { return (SHAPE T)(((SHAPE int)a + (SHAPE int)b + 1) >> 1); }
/// T avg_up(T a, T b), T an integer type of 8 or 16 bits
/// The mean of a and b, a half rounded up.
__DEFINE(int8) __DEFINE(uint8) __DEFINE(int16) __DEFINE(uint16)
#undef __DEFINE

#define __DEFINE(T) \
    static inline SHAPE T avg_down(SHAPE T a, SHAPE T b) { return (SHAPE T)(((SHAPE int)a + (SHAPE int)b) >> 1); }
/// T avg_down(T a, T b), T an integer type of 8 or 16 bits
/// The mean of a and b, a half rounded down.
__DEFINE(int8) __DEFINE(uint8) __DEFINE(int16) __DEFINE(uint16)
#undef __DEFINE

/// bool and(bool a, bool b)
/// Whether both are true. Unlike &&, both are always evaluated.
static inline SHAPE bool and(SHAPE bool a, SHAPE bool b) { return a & b; }

/// bool or(bool a, bool b)
/// Whether at least one is true. Unlike ||, both are always evaluated.
static inline SHAPE bool or(SHAPE bool a, SHAPE bool b) { return a | b; }
