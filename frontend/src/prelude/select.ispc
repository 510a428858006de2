// Choosing between two values.

#define __DEFINE(T) \
    static inline varying T select(varying bool c, varying T a, varying T b) { return __op_select(c, a, b); } \
    static inline varying T select(uniform bool c, varying T a, varying T b) { return __op_select(c, a, b); } \
    static inline uniform T select(uniform bool c, uniform T a, uniform T b) { return __op_select(c, a, b); }
/// T select(bool c, T a, T b), T any number type or bool
/// a where c is true, b elsewhere. Both are evaluated, also where not chosen.
__EACH_TYPE(__DEFINE)
#undef __DEFINE
