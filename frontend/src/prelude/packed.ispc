// Packed loads and stores: the active lanes, and only they, take consecutive elements.

// How many of the lanes in the set lie below this one.
static inline varying int __lanes_below(uniform uint64 lanes) {
    varying uint64 below = ((varying uint64)1 << (varying uint64)__op_iota()) - (uniform uint64)1;
    return (varying int)__op_popcnt(lanes & below);
}

#define __DEFINE(T) \
    static inline uniform int packed_load_active(uniform T source[], varying T *uniform values) { \
        uniform uint64 lanes = __op_mask_bits(); \
        *values = source[__lanes_below(lanes)]; \
        return (uniform int)__op_popcnt(lanes); \
    }
/// uniform int packed_load_active(uniform T source[], T *values), T any number type
/// Loads consecutive elements from the start of source into *values of the active lanes; returns how many.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) \
    static inline uniform int packed_store_active(uniform T target[], varying T values) { \
        uniform uint64 lanes = __op_mask_bits(); \
        target[__lanes_below(lanes)] = values; \
        return (uniform int)__op_popcnt(lanes); \
    } \
    static inline uniform int packed_store_active(varying bool active, uniform T target[], varying T values) { \
        uniform uint64 lanes = __op_packmask(active); \
        if (active) { \
            target[__lanes_below(lanes)] = values; \
        } \
        return (uniform int)__op_popcnt(lanes); \
    }
/// uniform int packed_store_active([bool active,] uniform T target[], T values), T any number type
/// Stores the values of the active lanes (in which active is true) one after another from the start of target; returns
/// how many.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE

#define __DEFINE(T) \
    static inline uniform int packed_store_active2(uniform T target[], varying T values) { \
        return packed_store_active(target, values); \
    }
/// uniform int packed_store_active2(uniform T target[], T values), T any number type
/// The same as packed_store_active; nothing beyond the stored elements is written.
__EACH_NUMBER(__DEFINE)
#undef __DEFINE
