// Short vectors: functions of scalars, component by component.

#define __DEFINE(NAME) \
    template <typename T, uint N> static inline T<N> NAME(T<N> x) { \
        T<N> result; \
        for (uniform uint i = 0; i < N; ++i) result[i] = NAME(x[i]); \
        return result; \
    }
/// T<N> abs(T<N> x), T a type for which the function of a scalar exists
/// Likewise floor, ceil, trunc, round, sqrt, rsqrt, rsqrt_fast, rcp, rcp_fast, sin, cos, tan, asin, acos, atan, sinh, cosh,
/// tanh, exp, expm1, log, log1p, cbrt, erf and erfc: the function of each component.
__DEFINE(abs)
__DEFINE(floor)
__DEFINE(ceil)
__DEFINE(trunc)
__DEFINE(round)
__DEFINE(sqrt)
__DEFINE(rsqrt)
__DEFINE(rsqrt_fast)
__DEFINE(rcp)
__DEFINE(rcp_fast)
__DEFINE(sin)
__DEFINE(cos)
__DEFINE(tan)
__DEFINE(asin)
__DEFINE(acos)
__DEFINE(atan)
__DEFINE(sinh)
__DEFINE(cosh)
__DEFINE(tanh)
__DEFINE(exp)
__DEFINE(expm1)
__DEFINE(log)
__DEFINE(log1p)
__DEFINE(cbrt)
__DEFINE(erf)
__DEFINE(erfc)
#undef __DEFINE

#define __DEFINE(NAME) \
    template <typename T, uint N> static inline T<N> NAME(T<N> x, T<N> y) { \
        T<N> result; \
        for (uniform uint i = 0; i < N; ++i) result[i] = NAME(x[i], y[i]); \
        return result; \
    }
/// T<N> min(T<N> x, T<N> y), T a type for which the function of scalars exists
/// Likewise max, fmod, atan2 and pow: the function of each pair of components.
__DEFINE(min)
__DEFINE(max)
__DEFINE(fmod)
__DEFINE(atan2)
__DEFINE(pow)
#undef __DEFINE

/// T<N> clamp(T<N> x, T<N> low, T<N> high), T any number type
/// Each component of x, but at least that of low and at most that of high.
template <typename T, uint N> static inline T<N> clamp(T<N> x, T<N> low, T<N> high) { return min(max(x, low), high); }

#define __DEFINE(NAME, SHAPE) \
    template <typename T, uint N> static inline SHAPE bool<N> NAME(SHAPE T<N> x) { \
        SHAPE bool<N> result; \
        for (uniform uint i = 0; i < N; ++i) result[i] = NAME(x[i]); \
        return result; \
    }
/// bool<N> isnan(T<N> x), T a floating-point type
/// Likewise isinf and isfinite: whether each component is so.
__DEFINE(isnan, uniform)
__DEFINE(isnan, varying)
__DEFINE(isinf, uniform)
__DEFINE(isinf, varying)
__DEFINE(isfinite, uniform)
__DEFINE(isfinite, varying)
#undef __DEFINE

/// uniform T<N> select(uniform bool c, uniform T<N> a, uniform T<N> b), T any number type or bool
/// a if c is true, else b; with a vector of bools, component by component.
template <typename T, uint N>
static inline uniform T<N> select(uniform bool c, uniform T<N> a, uniform T<N> b) { return c ? a : b; }
template <typename T, uint N>
static inline uniform T<N> select(uniform bool<N> c, uniform T<N> a, uniform T<N> b) { return c ? a : b; }
