// Dot products of small integers packed into 32 bits, lowest first, added to an accumulator. The _sat forms saturate
// the final sum at the ends of the accumulator's type; the others wrap.

// Element i of x, of B bits, as an int64: the cast to T gives it its sign.
#define __ELEMENT(x, T, B, i) ((SHAPE int64)(SHAPE T)((x) >> (B * i)))
#define __PRODUCT(A, C, B, i) (__ELEMENT(a, A, B, i) * __ELEMENT(b, C, B, i))
#define __SUM4(A, C) (__PRODUCT(A, C, 8, 0) + __PRODUCT(A, C, 8, 1) + __PRODUCT(A, C, 8, 2) + __PRODUCT(A, C, 8, 3))
#define __SUM2(A, C) (__PRODUCT(A, C, 16, 0) + __PRODUCT(A, C, 16, 1))
#define __DOT(NAME, SUM, R) \
    static inline SHAPE R NAME(SHAPE uint32 a, SHAPE uint32 b, SHAPE R acc) { return (SHAPE R)((SHAPE int64)acc + SUM); }
#define __DOT_SAT(NAME, SUM, R, LOW, HIGH) \
    static inline SHAPE R NAME(SHAPE uint32 a, SHAPE uint32 b, SHAPE R acc) { \
        SHAPE int64 exact = (SHAPE int64)acc + SUM; \
        return (SHAPE R)__op_min(__op_max(exact, (uniform int64)LOW), (uniform int64)HIGH); \
    }

/// int32 dot4add_u8i8packed(uint32 a, uint32 b, int32 acc)
/// acc plus the dot product of four unsigned bytes of a and four signed bytes of b.
__DOT(dot4add_u8i8packed, __SUM4(uint8, int8), int32)
/// int32 dot4add_u8i8packed_sat(uint32 a, uint32 b, int32 acc)
/// dot4add_u8i8packed, saturated.
__DOT_SAT(dot4add_u8i8packed_sat, __SUM4(uint8, int8), int32, -0x80000000ll, 0x7fffffffll)
/// uint32 dot4add_u8u8packed(uint32 a, uint32 b, uint32 acc)
/// acc plus the dot product of four unsigned bytes each.
__DOT(dot4add_u8u8packed, __SUM4(uint8, uint8), uint32)
/// uint32 dot4add_u8u8packed_sat(uint32 a, uint32 b, uint32 acc)
/// dot4add_u8u8packed, saturated.
__DOT_SAT(dot4add_u8u8packed_sat, __SUM4(uint8, uint8), uint32, 0, 0xffffffffll)
/// int32 dot4add_i8i8packed(uint32 a, uint32 b, int32 acc)
/// acc plus the dot product of four signed bytes each.
__DOT(dot4add_i8i8packed, __SUM4(int8, int8), int32)
/// int32 dot4add_i8i8packed_sat(uint32 a, uint32 b, int32 acc)
/// dot4add_i8i8packed, saturated.
__DOT_SAT(dot4add_i8i8packed_sat, __SUM4(int8, int8), int32, -0x80000000ll, 0x7fffffffll)
/// int32 dot2add_i16i16packed(uint32 a, uint32 b, int32 acc)
/// acc plus the dot product of two signed 16-bit integers each.
__DOT(dot2add_i16i16packed, __SUM2(int16, int16), int32)
/// int32 dot2add_i16i16packed_sat(uint32 a, uint32 b, int32 acc)
/// dot2add_i16i16packed, saturated.
__DOT_SAT(dot2add_i16i16packed_sat, __SUM2(int16, int16), int32, -0x80000000ll, 0x7fffffffll)
/// uint32 dot2add_u16u16packed(uint32 a, uint32 b, uint32 acc)
/// acc plus the dot product of two unsigned 16-bit integers each.
__DOT(dot2add_u16u16packed, __SUM2(uint16, uint16), uint32)
/// uint32 dot2add_u16u16packed_sat(uint32 a, uint32 b, uint32 acc)
/// dot2add_u16u16packed, saturated.
__DOT_SAT(dot2add_u16u16packed_sat, __SUM2(uint16, uint16), uint32, 0, 0xffffffffll)
/// int32 dot2add_u16i16packed(uint32 a, uint32 b, int32 acc)
/// acc plus the dot product of two unsigned 16-bit integers of a and two signed ones of b.
__DOT(dot2add_u16i16packed, __SUM2(uint16, int16), int32)
/// int32 dot2add_u16i16packed_sat(uint32 a, uint32 b, int32 acc)
/// dot2add_u16i16packed, saturated.
__DOT_SAT(dot2add_u16i16packed_sat, __SUM2(uint16, int16), int32, -0x80000000ll, 0x7fffffffll)

#undef __ELEMENT
#undef __PRODUCT
#undef __SUM4
#undef __SUM2
#undef __DOT
#undef __DOT_SAT
