// Atomic operations on memory. Each returns the value before. With a varying value or pointer every active lane has its
// turn, in ascending order. The _global forms are atomic among tasks; the _local forms are for memory no other task uses.

// The overloads of one operation: FIRST is the operation's name in the table, S the type's there.
#define __ATOMIC(SCOPE, NAME, FIRST, T, S) \
    static inline uniform T atomic_##NAME##_##SCOPE(uniform T *uniform at, uniform T value) { \
        return __op_atomic_##FIRST##_##S(at, value); \
    } \
    static inline varying T atomic_##NAME##_##SCOPE(uniform T *uniform at, varying T value) { \
        return __op_atomic_##FIRST##_##S(at, value); \
    } \
    static inline varying T atomic_##NAME##_##SCOPE(uniform T *varying at, varying T value) { \
        return __op_atomic_##FIRST##_##S(at, value); \
    }
#define __ATOMIC_ORDERED(SCOPE, T, S) \
    __ATOMIC(SCOPE, min, min, T, S) \
    __ATOMIC(SCOPE, max, max, T, S) \
    __ATOMIC(SCOPE, swap, swap, T, S)
#define __ATOMIC_INT(SCOPE, T, S) \
    __ATOMIC(SCOPE, add, add, T, S) \
    __ATOMIC(SCOPE, subtract, sub, T, S) \
    __ATOMIC(SCOPE, and, and, T, S) \
    __ATOMIC(SCOPE, or, or, T, S) \
    __ATOMIC(SCOPE, xor, xor, T, S) \
    __ATOMIC_ORDERED(SCOPE, T, S)

#define __ATOMIC_FLOAT(SCOPE, T, S) \
    __ATOMIC(SCOPE, add, add, T, S) \
    __ATOMIC(SCOPE, subtract, sub, T, S) \
    __ATOMIC_ORDERED(SCOPE, T, S)
#define __ATOMIC_EXCHANGE(SCOPE, T, S) \
    static inline uniform T atomic_compare_exchange_##SCOPE(uniform T *uniform at, uniform T expected, uniform T next) { \
        return __op_atomic_cas_##S(at, expected, next); \
    } \
    static inline varying T atomic_compare_exchange_##SCOPE(uniform T *uniform at, varying T expected, varying T next) { \
        return __op_atomic_cas_##S(at, expected, next); \
    } \
    static inline varying T atomic_compare_exchange_##SCOPE(uniform T *varying at, varying T expected, varying T next) { \
        return __op_atomic_cas_##S(at, expected, next); \
    }

#define __DEFINE(SCOPE) \
    __ATOMIC_INT(SCOPE, int32, i32) \
    __ATOMIC_INT(SCOPE, uint32, u32) \
    __ATOMIC_INT(SCOPE, int64, i64) \
    __ATOMIC_INT(SCOPE, uint64, u64) \
    __ATOMIC_FLOAT(SCOPE, float, f32) \
    __ATOMIC_FLOAT(SCOPE, double, f64)
/// T atomic_add_global(uniform T *at, T value), and so atomic_add_local, T in int32, uint32, int64, uint64, float, double
/// Adds value to *at and returns what was there. Likewise atomic_subtract_…, atomic_min_…, atomic_max_…, atomic_swap_…, and
/// for integers atomic_and_…, atomic_or_…, atomic_xor_….
__DEFINE(global)
__DEFINE(local)
#undef __DEFINE

#define __DEFINE(SCOPE) \
    __ATOMIC_EXCHANGE(SCOPE, int32, i32) \
    __ATOMIC_EXCHANGE(SCOPE, uint32, u32) \
    __ATOMIC_EXCHANGE(SCOPE, int64, i64) \
    __ATOMIC_EXCHANGE(SCOPE, uint64, u64) \
    __ATOMIC_EXCHANGE(SCOPE, float, f32) \
    __ATOMIC_EXCHANGE(SCOPE, double, f64)
/// T atomic_compare_exchange_global(uniform T *at, T expected, T next), and so …_local, T as for atomic_add_global
/// Stores next in *at if *at equals expected, bit for bit; returns what was there.
__DEFINE(global)
__DEFINE(local)
#undef __DEFINE

// Pointers are exchanged as the 64 bits that they are. P and V are the shapes of the address and of the values.
#define __ATOMIC_POINTER(SCOPE, TEMPLATE, T, P, V) \
    TEMPLATE static inline T *V atomic_swap_##SCOPE(T *uniform *P at, T *V value) { \
        return (T *V)__op_atomic_swap_u64((uniform uint64 *P)at, (V uint64)value); \
    } \
    TEMPLATE static inline T *V atomic_compare_exchange_##SCOPE(T *uniform *P at, T *V expected, T *V next) { \
        return (T *V)__op_atomic_cas_u64((uniform uint64 *P)at, (V uint64)expected, (V uint64)next); \
    }
#define __ATOMIC_POINTERS(SCOPE, TEMPLATE, T) \
    __ATOMIC_POINTER(SCOPE, TEMPLATE, T, uniform, uniform) \
    __ATOMIC_POINTER(SCOPE, TEMPLATE, T, uniform, varying) \
    __ATOMIC_POINTER(SCOPE, TEMPLATE, T, varying, varying)
/// T *atomic_swap_global(T **at, T *value), T *atomic_compare_exchange_global(T **at, T *expected, T *next), T any type or void
/// The same for pointers in memory; and so …_local.
__ATOMIC_POINTERS(global, , void)
__ATOMIC_POINTERS(local, , void)
__ATOMIC_POINTERS(global, template <typename T>, T)
__ATOMIC_POINTERS(local, template <typename T>, T)
#undef __ATOMIC_POINTER
#undef __ATOMIC_POINTERS

#undef __ATOMIC
#undef __ATOMIC_ORDERED
#undef __ATOMIC_INT
#undef __ATOMIC_FLOAT
#undef __ATOMIC_EXCHANGE
