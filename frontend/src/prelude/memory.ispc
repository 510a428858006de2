// Blocks of memory, and the clock. Every byte is checked as any other access is.

#define __DEFINE(V, COUNT) \
    static inline void memcpy##COUNT(void *V to, const void *V from, V int##COUNT count) { \
        __op_mem_copy(to, from, (V int64)count); \
    } \
    static inline void memmove##COUNT(void *V to, const void *V from, V int##COUNT count) { \
        __op_mem_copy(to, from, (V int64)count); \
    } \
    static inline void memset##COUNT(void *V to, V int8 value, V int##COUNT count) { \
        __op_mem_set(to, (V int32)value, (V int64)count); \
    }
/// void memcpy64(void *to, const void *from, int64 count), memmove64; void memset64(void *to, int8 value, int64 count)
/// Copies or fills count bytes; with varying pointers once per lane, ascending. Ranges may overlap.
__DEFINE(uniform, 64)
__DEFINE(varying, 64)
#undef __DEFINE

#define __DEFINE(V) \
    static inline void memcpy(void *V to, const void *V from, V int32 count) { memcpy64(to, from, (V int64)count); } \
    static inline void memmove(void *V to, const void *V from, V int32 count) { memmove64(to, from, (V int64)count); } \
    static inline void memset(void *V to, V int8 value, V int32 count) { memset64(to, value, (V int64)count); }
/// void memcpy(void *to, const void *from, int32 count), memmove; void memset(void *to, int8 value, int32 count)
/// The same with a count of 32 bits.
__DEFINE(uniform)
__DEFINE(varying)
#undef __DEFINE

/// void memory_barrier()
/// Orders the memory accesses before it before those after it, as other tasks see them.
static inline void memory_barrier() { __op_fence(); }

/// uniform int64 clock()
/// A counter that grows with time, in nanoseconds.
static inline uniform int64 clock() { return (uniform int64)__op_clock(); }
