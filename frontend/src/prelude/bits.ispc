// Bits of integers, and numbers as bits.

#define __DEFINE(T) static inline SHAPE int popcnt(SHAPE T x) { return (SHAPE int)__op_popcnt(x); }
/// int popcnt(T x), T an integer type of 32 or 64 bits
/// The number of bits of x that are set.
__DEFINE(int32) __DEFINE(uint32) __DEFINE(int64) __DEFINE(uint64)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T count_leading_zeros(SHAPE T x) { return __op_clz(x); }
/// T count_leading_zeros(T x), T an integer type of 32 or 64 bits
/// The number of zero bits above the highest bit that is set; the size of the type for 0.
__DEFINE(int32) __DEFINE(uint32) __DEFINE(int64) __DEFINE(uint64)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T count_trailing_zeros(SHAPE T x) { return __op_ctz(x); }
/// T count_trailing_zeros(T x), T an integer type of 32 or 64 bits
/// The number of zero bits below the lowest bit that is set; the size of the type for 0.
__DEFINE(int32) __DEFINE(uint32) __DEFINE(int64) __DEFINE(uint64)
#undef __DEFINE

#define __DEFINE(T, U, BITS) \
    static inline SHAPE T rotl(SHAPE T x, SHAPE int n) { \
        SHAPE U bits = (SHAPE U)x; \
        return (SHAPE T)((bits << (SHAPE U)(n & (BITS - 1))) | (bits >> (SHAPE U)((-n) & (BITS - 1)))); \
    }
/// T rotl(T x, int n), T an integer type
/// x with its bits rotated n places to the left, n modulo the size of the type.
__DEFINE(int8, uint8, 8) __DEFINE(uint8, uint8, 8) __DEFINE(int16, uint16, 16) __DEFINE(uint16, uint16, 16)
__DEFINE(int32, uint32, 32) __DEFINE(uint32, uint32, 32) __DEFINE(int64, uint64, 64) __DEFINE(uint64, uint64, 64)
#undef __DEFINE

#define __DEFINE(T) static inline SHAPE T rotr(SHAPE T x, SHAPE int n) { return rotl(x, -n); }
/// T rotr(T x, int n), T an integer type
/// x with its bits rotated n places to the right, n modulo the size of the type.
__EACH_INT(__DEFINE)
#undef __DEFINE

/// int sign_extend(bool x)
/// -1 (all bits set) for true, 0 for false.
static inline SHAPE int sign_extend(SHAPE bool x) { return __op_select(x, (uniform int)-1, (uniform int)0); }

/// U intbits(T x), T a floating-point type, U the unsigned integer of its size
/// The bits of x. NaN gives the canonical one.
static inline SHAPE uint16 intbits(SHAPE float16 x) { return __op_bitcast_u16(x); }
static inline SHAPE uint32 intbits(SHAPE float x) { return __op_bitcast_u32(x); }
static inline SHAPE uint64 intbits(SHAPE double x) { return __op_bitcast_u64(x); }

/// float16 float16bits(T bits), T in int16, uint16
/// The float16 with these bits.
static inline SHAPE float16 float16bits(SHAPE int16 bits) { return __op_bitcast_f16(bits); }
static inline SHAPE float16 float16bits(SHAPE uint16 bits) { return __op_bitcast_f16(bits); }

/// float floatbits(T bits), T in int32, uint32
/// The float with these bits.
static inline SHAPE float floatbits(SHAPE int32 bits) { return __op_bitcast_f32(bits); }
static inline SHAPE float floatbits(SHAPE uint32 bits) { return __op_bitcast_f32(bits); }

/// double doublebits(T bits), T in int64, uint64
/// The double with these bits.
static inline SHAPE double doublebits(SHAPE int64 bits) { return __op_bitcast_f64(bits); }
static inline SHAPE double doublebits(SHAPE uint64 bits) { return __op_bitcast_f64(bits); }

/// float half_to_float(uint16 bits)
/// The value of the float16 with these bits, exactly.
static inline SHAPE float half_to_float(SHAPE uint16 bits) { return (SHAPE float)__op_bitcast_f16(bits); }

/// float half_to_float_fast(uint16 bits)
/// The same as half_to_float.
static inline SHAPE float half_to_float_fast(SHAPE uint16 bits) { return (SHAPE float)__op_bitcast_f16(bits); }

/// int16 float_to_half(float x)
/// The bits of x rounded to float16, to nearest even.
static inline SHAPE int16 float_to_half(SHAPE float x) { return __op_bitcast_i16((SHAPE float16)x); }

/// int16 float_to_half_fast(float x)
/// The same as float_to_half.
static inline SHAPE int16 float_to_half_fast(SHAPE float x) { return __op_bitcast_i16((SHAPE float16)x); }
