"""The SPMD functions that give operators the meaning they have in Python and numpy."""

from __future__ import annotations

# What traps say that lie in the functions below.
NEGATIVE_POWER = "negative powers of integers are not allowed"

# By name: what a kernel that uses one contains. Integers divide towards minus infinity, and remainders have the sign
# of the divisor; shifts by the width or more leave nothing; powers of integers wrap.
FUNCTIONS = {
    "py_floordiv": """template <typename T> static inline T py_floordiv(T a, T b) {
    T q = a / b;
    if (q * b != a && (a < 0) != (b < 0)) q = q - (T)1;
    return q;
}""",
    "py_mod": """template <typename T> static inline T py_mod(T a, T b) {
    T r = a % b;
    if (r != 0 && (r < 0) != (b < 0)) r = r + b;
    return r;
}""",
    # Of what is near the range from 0 to `b`, as `i + 1` is, without a division.
    "py_mod_near": """template <typename T> static inline T py_mod_near(T a, T b) {
    T r = a < 0 ? a + b : a >= b ? a - b : a;
    if (r < 0 || r >= b) {
        r = a % b;
        if (r < 0) r = r + b;
    }
    return r;
}""",
    "py_fmod": """template <typename T> static inline T py_fmod(T a, T b) {
    T r = fmod(a, b);
    if (r != 0 && (r < 0) != (b < 0)) r = r + b;
    return r == 0 ? copysign(r, b) : r;
}""",
    "py_ffloordiv": """template <typename T> static inline T py_ffloordiv(T a, T b) {
    T r = fmod(a, b);
    T q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) q = q - (T)1;
    T whole = floor(q);
    if (q - whole > (T)0.5f) whole = whole + (T)1;
    whole = q == 0 ? copysign((T)0, a / b) : whole;
    return b == 0 ? a / b : whole;
}""",
    "py_ipow": f"""template <typename T> static inline T py_ipow(T x, T n) {{
    assert(n >= 0, "{NEGATIVE_POWER}");
    T result = 1;
    while (n > 0) {{
        if (n & 1) result = result * x;
        n = n >> 1;
        x = x * x;
    }}
    return result;
}}""",
    "py_shl": """template <typename T> static inline T py_shl(T a, T n) {
    return n >= 0 && n < (T)(8 * sizeof(uniform T)) ? a << n : (T)0;
}""",
    "py_shr": """template <typename T> static inline T py_shr(T a, T n) {
    if (n >= 0 && n < (T)(8 * sizeof(uniform T))) return a >> n;
    return a < 0 ? (T)-1 : (T)0;
}""",
    # What fits in 32 bits is converted in 32: not all processors have instructions for 64.
    "py_int_uniform": """template <typename T> static inline uniform int64 py_int_uniform(uniform T x) {
    if (abs(x) < (uniform T)2147483648.0d) return (uniform int64)(uniform int)x;
    return (uniform int64)x;
}""",
    "py_int_varying": """template <typename T> static inline varying int64 py_int_varying(varying T x) {
    varying int64 n;
    if (abs(x) < (uniform T)2147483648.0d) n = (int64)(int)x;
    else n = (int64)x;
    return n;
}""",
    "py_sign": """template <typename T> static inline T py_sign(T x) {
    return x > 0 ? (T)1 : x < 0 ? (T)-1 : x != x ? x : (T)0;
}""",
    # Floats of one sign are in the order of their bits.
    "py_nextafter_32": """template <typename T> static inline T py_nextafter_32(T x, T y) {
    return x != x || y != y ? x + y : x == y ? y : x == 0 ? copysign((T)floatbits((int)1), y)
        : (T)floatbits(intbits(x) + ((x < y) == (x > 0) ? 1 : -1));
}""",
    "py_nextafter_64": """template <typename T> static inline T py_nextafter_64(T x, T y) {
    return x != x || y != y ? x + y : x == y ? y : x == 0 ? copysign((T)doublebits((int64)1), y)
        : (T)doublebits(intbits(x) + ((x < y) == (x > 0) ? (int64)1 : (int64)-1));
}""",
    # In a tree, as sums are made.
    "py_product": """template <typename T> static inline uniform T py_product(varying T x) {
    for (uniform int step = programCount / 2; step > 0; step /= 2) x = x * rotate(x, step);
    return extract(x, 0);
}""",
    "py_minimum": """template <typename T> static inline T py_minimum(T a, T b) {
    return a != a ? a : min(a, b);
}""",
    "py_maximum": """template <typename T> static inline T py_maximum(T a, T b) {
    return a != a ? a : max(a, b);
}""",
}
