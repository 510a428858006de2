// Hints about caches. The machine has none, so the loads and stores are plain ones and the prefetches do nothing: they do
// not even look at the pointer, which may be anything.

#define __DEFINE(T) \
    static inline void streaming_store(uniform T a[], varying T values) { a[__op_iota()] = values; } \
    static inline void streaming_store(uniform T a[], uniform T value) { a[0] = value; }
/// void streaming_store(uniform T a[], T values), T any number type
/// Stores programCount consecutive values (or one uniform value) that will not be read soon.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline varying T streaming_load(uniform T a[]) { return a[__op_iota()]; }
/// T streaming_load(uniform T a[]), T any number type
/// Loads programCount consecutive values that will not be needed again soon.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) static inline uniform T streaming_load_uniform(uniform T a[]) { return a[0]; }
/// uniform T streaming_load_uniform(uniform T a[]), T any number type
/// Loads one value that will not be needed again soon.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(NAME) \
    static inline void NAME(const void *uniform pointer) {} \
    static inline void NAME(const void *varying pointer) {}
#define __DEFINE_SIZED(NAME) \
    __DEFINE(NAME) \
    static inline void NAME(const void *uniform pointer, uniform int8 size) {} \
    static inline void NAME(const void *varying pointer, uniform int8 size) {}
/// void prefetch_l1(const void *pointer), prefetch_l2, prefetch_l3, prefetch_nt; prefetchw_l1, prefetchw_l2, prefetchw_l3
/// Says that memory will be read (w: written) soon. Does nothing. The reading forms also take a uniform int8 size.
__DEFINE_SIZED(prefetch_l1) __DEFINE_SIZED(prefetch_l2) __DEFINE_SIZED(prefetch_l3) __DEFINE_SIZED(prefetch_nt)
__DEFINE(prefetchw_l1) __DEFINE(prefetchw_l2) __DEFINE(prefetchw_l3)
#undef __DEFINE_SIZED
#undef __DEFINE
