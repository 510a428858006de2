// Between arrays of structures in memory and one varying value per member. Element i of the array of structures belongs to
// lane i; inactive lanes neither load nor store.

#define __DEFINE(T) \
    static inline void aos_to_soa2(uniform T a[], varying T *uniform v0, varying T *uniform v1) { \
        varying int at = 2 * __op_iota(); \
        *v0 = a[at]; \
        *v1 = a[at + 1]; \
    } \
    static inline void aos_to_soa3(uniform T a[], varying T *uniform v0, varying T *uniform v1, varying T *uniform v2) { \
        varying int at = 3 * __op_iota(); \
        *v0 = a[at]; \
        *v1 = a[at + 1]; \
        *v2 = a[at + 2]; \
    } \
    static inline void aos_to_soa4(uniform T a[], varying T *uniform v0, varying T *uniform v1, varying T *uniform v2, \
                                   varying T *uniform v3) { \
        varying int at = 4 * __op_iota(); \
        *v0 = a[at]; \
        *v1 = a[at + 1]; \
        *v2 = a[at + 2]; \
        *v3 = a[at + 3]; \
    }
/// void aos_to_soa2(uniform T a[], T *v0, T *v1), and so for 3 and 4, T in float, int32, double, int64
/// Loads programCount structures of 2 (3, 4) members from a: lane i gets member k of structure i in *vk.
__DEFINE(float) __DEFINE(int32) __DEFINE(double) __DEFINE(int64)
#undef __DEFINE

#define __DEFINE(T) \
    static inline void soa_to_aos2(varying T v0, varying T v1, uniform T a[]) { \
        varying int at = 2 * __op_iota(); \
        a[at] = v0; \
        a[at + 1] = v1; \
    } \
    static inline void soa_to_aos3(varying T v0, varying T v1, varying T v2, uniform T a[]) { \
        varying int at = 3 * __op_iota(); \
        a[at] = v0; \
        a[at + 1] = v1; \
        a[at + 2] = v2; \
    } \
    static inline void soa_to_aos4(varying T v0, varying T v1, varying T v2, varying T v3, uniform T a[]) { \
        varying int at = 4 * __op_iota(); \
        a[at] = v0; \
        a[at + 1] = v1; \
        a[at + 2] = v2; \
        a[at + 3] = v3; \
    }
/// void soa_to_aos2(T v0, T v1, uniform T a[]), and so for 3 and 4, T in float, int32, double, int64
/// Stores programCount structures of 2 (3, 4) members to a: member k of structure i is vk of lane i.
__DEFINE(float) __DEFINE(int32) __DEFINE(double) __DEFINE(int64)
#undef __DEFINE
