// Saturating integer arithmetic: results beyond the type's range become its nearest end. 8 to 32 bits compute in a wider
// type; 64 bits look at the overflow itself.

// One operator for the narrow types: W is a type that holds every result of OP on T.
#define __NARROW(NAME, OP, T, W, LOW, HIGH) \
    static inline SHAPE T NAME(SHAPE T a, SHAPE T b) { \
        SHAPE W exact = (SHAPE W)a OP (SHAPE W)b; \
        return (SHAPE T)__op_min(__op_max(exact, (uniform W)LOW), (uniform W)HIGH); \
    }
#define __NARROW_TYPES(NAME, OP) \
    __NARROW(NAME, OP, int8, int32, -0x80, 0x7f) \
    __NARROW(NAME, OP, uint8, int32, 0, 0xff) \
    __NARROW(NAME, OP, int16, int32, -0x8000, 0x7fff) \
    __NARROW(NAME, OP, uint16, int64, 0, 0xffff) \
    __NARROW(NAME, OP, int32, int64, -0x80000000ll, 0x7fffffffll)

#define __INT64_MIN ((uniform int64)0x8000000000000000ull)
#define __INT64_MAX 0x7fffffffffffffffll
#define __UINT64_MAX 0xffffffffffffffffull

/// T saturating_add(T a, T b), T an integer type
/// a + b, saturated.
__NARROW_TYPES(saturating_add, +)
__NARROW(saturating_add, +, uint32, int64, 0, 0xffffffffll)
static inline SHAPE int64 saturating_add(SHAPE int64 a, SHAPE int64 b) {
    SHAPE int64 sum = a + b;
    // Overflow: the operands' signs agree and the sum's differs.
    return __op_select(((a ^ sum) & (b ^ sum)) < 0, __op_select(a < 0, __INT64_MIN, __INT64_MAX), sum);
}
static inline SHAPE uint64 saturating_add(SHAPE uint64 a, SHAPE uint64 b) {
    SHAPE uint64 sum = a + b;
    return __op_select(sum < a, __UINT64_MAX, sum);
}

/// T saturating_sub(T a, T b), T an integer type
/// a - b, saturated.
__NARROW_TYPES(saturating_sub, -)
__NARROW(saturating_sub, -, uint32, int64, 0, 0xffffffffll)
static inline SHAPE int64 saturating_sub(SHAPE int64 a, SHAPE int64 b) {
    SHAPE int64 difference = a - b;
    // Overflow: the operands' signs differ and the difference's is not a's.
    return __op_select(((a ^ b) & (a ^ difference)) < 0, __op_select(a < 0, __INT64_MIN, __INT64_MAX), difference);
}
static inline SHAPE uint64 saturating_sub(SHAPE uint64 a, SHAPE uint64 b) {
    return __op_select(a < b, (uniform uint64)0, a - b);
}

/// T saturating_mul(T a, T b), T an integer type
/// a * b, saturated.
__NARROW_TYPES(saturating_mul, *)
static inline SHAPE uint32 saturating_mul(SHAPE uint32 a, SHAPE uint32 b) {
    return __op_select(__op_mulhi(a, b) != 0, (uniform uint32)0xffffffffu, a * b);
}
static inline SHAPE int64 saturating_mul(SHAPE int64 a, SHAPE int64 b) {
    SHAPE int64 product = a * b;
    SHAPE bool overflow = __op_mulhi(a, b) != product >> 63;
    return __op_select(overflow, __op_select((a ^ b) < 0, __INT64_MIN, __INT64_MAX), product);
}
static inline SHAPE uint64 saturating_mul(SHAPE uint64 a, SHAPE uint64 b) {
    return __op_select(__op_mulhi(a, b) != 0, __UINT64_MAX, a * b);
}

/// T saturating_div(T a, T b), T an integer type
/// a / b, saturated: only the smallest integer divided by -1 differs from /. b = 0 traps.
__NARROW(saturating_div, /, int8, int32, -0x80, 0x7f)
__NARROW(saturating_div, /, int16, int32, -0x8000, 0x7fff)
__NARROW(saturating_div, /, int32, int64, -0x80000000ll, 0x7fffffffll)
static inline SHAPE int64 saturating_div(SHAPE int64 a, SHAPE int64 b) {
    return __op_select(a == __INT64_MIN & b == -1, __INT64_MAX, a / b);
}
#define __DEFINE(T) static inline SHAPE T saturating_div(SHAPE T a, SHAPE T b) { return a / b; }
__EACH_UNSIGNED(__DEFINE)
#undef __DEFINE

#undef __NARROW_TYPES
#undef __NARROW
#undef __INT64_MIN
#undef __INT64_MAX
#undef __UINT64_MAX
