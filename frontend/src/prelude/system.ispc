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

#define __DEFINE(T) \
    static inline uniform bool rdrand(uniform T *uniform at) { return false; } \
    static inline varying bool rdrand(varying T *uniform at) { return false; } \
    static inline varying bool rdrand(uniform T *varying at) { return false; }
/// bool rdrand(T *at), T in int16, int32, int64, float
/// Gives false and leaves *at alone, as ISPC's does on processors without a random number generator: a program gives the
/// same results in every run. Use random, with a seed from the host.
__DEFINE(int16) __DEFINE(int32) __DEFINE(int64) __DEFINE(float)
#undef __DEFINE

/// void abort()
/// Stops the program with the trap `abort`, if a lane is active.
static void abort() {
    __op_abort("abort");
}
