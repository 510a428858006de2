// The machine: sizes of addresses, the number of cores, and stopping a program.

typedef uint64 size_t;
typedef int64 ptrdiff_t;
typedef int64 intptr_t;
typedef uint64 uintptr_t;

/// uniform int num_cores()
/// The number of threads that tasks run on: as many as the machine has cores, if the host did not choose otherwise.
static inline uniform int num_cores() {
    return __op_thread_count();
}

/// void fastmath()
/// Does nothing: subnormal numbers are never flushed to zero, so that results do not depend on the machine.
static inline void fastmath() {}

// One round of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#define __DEFINE(SHAPE) \
    static inline SHAPE uint64 __scrambled(SHAPE uint64 state) { \
        SHAPE uint64 x = state + 0x9e3779b97f4a7c15ull; \
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull; \
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull; \
        return x ^ (x >> 31); \
    }
__DEFINE(uniform) __DEFINE(varying)
#undef __DEFINE
static inline varying uint64 __scrambled_lane(varying uint64 state) {
    return __scrambled(state ^ __scrambled((varying uint64)programIndex));
}

#define __DEFINE(T) \
    static inline uniform bool rdrand(uniform T *uniform at) { \
        *at = (uniform T)__scrambled((uniform uint64)*at); \
        return true; \
    } \
    static inline varying bool rdrand(varying T *uniform at) { \
        *at = (varying T)__scrambled_lane((varying uint64)*at); \
        return true; \
    } \
    static inline varying bool rdrand(uniform T *varying at) { \
        *at = (varying T)__scrambled_lane((varying uint64)*at); \
        return true; \
    }
/// bool rdrand(T *at), T in int16, int32, int64, float
/// Sets *at to a random number (of floats: in [0, 1)) and gives true. The number is computed from the one that stood there before
/// and, for varying numbers and pointers, the lane; so calls with one variable give a sequence, which is the same in every run, unlike
/// that of the processors' generators.
__DEFINE(int16) __DEFINE(int32) __DEFINE(int64)
#undef __DEFINE
static inline uniform bool rdrand(uniform float *uniform at) {
    uniform int bits = (uniform int)(__scrambled((uniform uint64)intbits(*at)) & 0x7fffff);
    *at = floatbits(bits | 0x3f800000) - 1.0f;
    return true;
}
static inline varying bool rdrand(varying float *uniform at) {
    varying int bits = (varying int)(__scrambled_lane((varying uint64)intbits(*at)) & 0x7fffff);
    *at = floatbits(bits | 0x3f800000) - 1.0f;
    return true;
}
static inline varying bool rdrand(uniform float *varying at) {
    varying int bits = (varying int)(__scrambled_lane((varying uint64)intbits(*at)) & 0x7fffff);
    *at = floatbits(bits | 0x3f800000) - 1.0f;
    return true;
}

/// void abort()
/// Stops the program with the trap `abort`, if a lane is active.
static void abort() {
    __op_abort("abort");
}
