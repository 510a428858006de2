// Prefix sums over the active lanes, by Hillis and Steele's scheme ("Data parallel algorithms", 1986): log2(programCount)
// steps, in which lane i takes in what lane i - step has gathered. Inactive lanes take part with the neutral element.

#define __SCAN_ADD(a, b) ((a) + (b))
#define __SCAN_AND(a, b) ((a) & (b))
#define __SCAN_OR(a, b) ((a) | (b))

#define __SCAN_STEP(T, OP, STEP) \
    if (STEP < programCount) { \
        varying T below = __op_shuffle(sum, lane - STEP); \
        sum = __op_select(lane >= STEP, (varying T)OP(below, sum), sum); \
    }

#define __SCAN_STEPS(T, OP) \
    unmasked { \
        __SCAN_STEP(T, OP, 1) \
        __SCAN_STEP(T, OP, 2) \
        __SCAN_STEP(T, OP, 4) \
        __SCAN_STEP(T, OP, 8) \
        __SCAN_STEP(T, OP, 16) \
        __SCAN_STEP(T, OP, 32) \
    }

#define __SCAN(T, NAME, OP, NEUTRAL) \
    static inline varying T inclusive_scan_##NAME(varying T x) { \
        varying int lane = __op_iota(); \
        varying T sum = __op_select(__op_mask_get(), x, (uniform T)NEUTRAL); \
        __SCAN_STEPS(T, OP) \
        return sum; \
    } \
    static inline varying T exclusive_scan_##NAME(varying T x) { \
        varying int lane = __op_iota(); \
        varying T kept = __op_select(__op_mask_get(), x, (uniform T)NEUTRAL); \
        varying T sum = __op_select(lane == 0, (uniform T)NEUTRAL, __op_shuffle(kept, lane - 1)); \
        __SCAN_STEPS(T, OP) \
        return sum; \
    }

#define __DEFINE(T) __SCAN(T, add, __SCAN_ADD, 0)
/// T exclusive_scan_add(T x), T inclusive_scan_add(T x), T any number type
/// The sum of x over the active lanes below this one (inclusive: and this one).
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) __SCAN(T, and, __SCAN_AND, -1)
/// T exclusive_scan_and(T x), T inclusive_scan_and(T x), T an integer type
/// The bitwise and of x over the active lanes below this one (inclusive: and this one); all ones in the lowest.
__EACH_INT(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) __SCAN(T, or, __SCAN_OR, 0)
/// T exclusive_scan_or(T x), T inclusive_scan_or(T x), T an integer type
/// The bitwise or of x over the active lanes below this one (inclusive: and this one); 0 in the lowest.
__EACH_INT(__DEFINE)
#undef __DEFINE

#undef __SCAN
#undef __SCAN_STEPS
#undef __SCAN_STEP
#undef __SCAN_ADD
#undef __SCAN_AND
#undef __SCAN_OR
