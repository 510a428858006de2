// Functions in which lanes see each other. Shuffles read the value an inactive lane holds; reductions and votes look at
// active lanes only.

#define __DEFINE(T) \
    static inline varying T broadcast(varying T x, uniform int lane) { return __op_extract(x, lane); }
/// T broadcast(T x, uniform int lane), T any number type or bool
/// x of the given lane, in all lanes.
__EACH_TYPE(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) \
    static inline varying T rotate(varying T x, uniform int offset) { return __op_shuffle(x, __op_iota() + offset); }
/// T rotate(T x, uniform int offset), T any number type or bool
/// Lane i gets x of lane i + offset, modulo the gang size.
__EACH_TYPE(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) \
    static inline varying T shift(varying T x, uniform int offset) { \
        varying int source = __op_iota() + offset; \
        return __op_select(source >= 0 & source < programCount, __op_shuffle(x, source), (uniform T)0); \
    }
/// T shift(T x, uniform int offset), T any number type or bool
/// Lane i gets x of lane i + offset, or 0 if there is no such lane.
__EACH_TYPE(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) \
    static inline varying T shuffle(varying T x, varying int lane) { return __op_shuffle(x, lane); } \
    static inline varying T shuffle(varying T x, varying T y, varying int lane) { \
        return __op_select((lane & programCount) == 0, __op_shuffle(x, lane), __op_shuffle(y, lane)); \
    }
/// T shuffle(T x, int lane), T shuffle(T x, T y, int lane), T any number type or bool
/// x of the given lane. With two sources, lanes from programCount on mean those of y. Lanes wrap.
__EACH_TYPE(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline uniform T extract(varying T x, uniform int lane) { return __op_extract(x, lane); }
/// uniform T extract(T x, uniform int lane), T any number type or bool
/// x of the given lane.
__EACH_TYPE(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) \
    static inline varying T insert(varying T x, uniform int lane, uniform T value) { return __op_insert(x, lane, value); }
/// T insert(T x, uniform int lane, uniform T value), T any number type or bool
/// x with its value in the given lane replaced.
__EACH_TYPE(__DEFINE)
#undef __DEFINE

/// uniform uint64 lanemask()
/// The active lanes: bit i is set if lane i is active.
static inline uniform uint64 lanemask() { return __op_mask_bits(); }

/// uniform uint64 packmask(bool x)
/// The active lanes in which x is true, as bits.
static inline uniform uint64 packmask(varying bool x) { return __op_packmask(x); }

/// uniform int popcnt(bool x)
/// The number of active lanes in which x is true.
static inline uniform int popcnt(varying bool x) { return (uniform int)__op_popcnt(__op_packmask(x)); }

/// uniform bool any(bool x)
/// Whether x is true in at least one active lane.
static inline uniform bool any(varying bool x) { return __op_any(x); }

/// uniform bool all(bool x)
/// Whether x is true in every active lane.
static inline uniform bool all(varying bool x) { return __op_all(x); }

/// uniform bool none(bool x)
/// Whether x is true in no active lane.
static inline uniform bool none(varying bool x) { return !__op_any(x); }

#define __DEFINE(T, S) static inline uniform S reduce_add(varying T x) { return __op_reduce_add((varying S)x); }
/// uniform S reduce_add(T x), T any number type
/// The sum over the active lanes. S is the integer type of twice the size for integers of 8, 16 and 32 bits, so that their
/// sum is exact, and T for others: sums of 64 bits wrap, floating-point numbers are added along a fixed tree over lanes.
__DEFINE(int8, int16) __DEFINE(uint8, uint16)
__DEFINE(int16, int32) __DEFINE(uint16, uint32)
__DEFINE(int32, int64) __DEFINE(uint32, uint64)
__DEFINE(int64, int64) __DEFINE(uint64, uint64)
__DEFINE(float16, float16) __DEFINE(float, float) __DEFINE(double, double)
#undef __DEFINE

#define __DEFINE(T) static inline uniform T reduce_mul(varying T x) { return __op_reduce_mul(x); }
/// uniform T reduce_mul(T x), T any number type
/// The product over the active lanes, in the type T. Integers wrap; floating-point numbers as for reduce_add.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline uniform T reduce_min(varying T x) { return __op_reduce_min(x); }
/// uniform T reduce_min(T x), T any number type
/// The smallest value among the active lanes.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline uniform T reduce_max(varying T x) { return __op_reduce_max(x); }
/// uniform T reduce_max(T x), T any number type
/// The largest value among the active lanes.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline uniform T reduce_and(varying T x) { return __op_reduce_and(x); }
/// uniform T reduce_and(T x), T an integer type
/// The bitwise and over the active lanes.
__EACH_INT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline uniform T reduce_or(varying T x) { return __op_reduce_or(x); }
/// uniform T reduce_or(T x), T an integer type
/// The bitwise or over the active lanes.
__EACH_INT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline uniform T reduce_xor(varying T x) { return __op_reduce_xor(x); }
/// uniform T reduce_xor(T x), T an integer type
/// The bitwise exclusive or over the active lanes.
__EACH_INT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) \
    static inline uniform bool reduce_equal(varying T x) { \
        uniform T first = __op_extract(x, (uniform int)__op_ctz(__op_mask_bits())); \
        return __op_all(x == first); \
    } \
    static inline uniform bool reduce_equal(varying T x, uniform T *uniform value) { \
        uniform T first = __op_extract(x, (uniform int)__op_ctz(__op_mask_bits())); \
        uniform bool equal = __op_all(x == first); \
        if (equal) { \
            *value = first; \
        } \
        return equal; \
    }
/// uniform bool reduce_equal(T x), uniform bool reduce_equal(T x, uniform T *value), T any number type
/// Whether x is the same in all active lanes; if so, the second form stores it.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE
