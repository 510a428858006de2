// 64-bit limits.
//~ run: f(a=0x7fffffffffffffff, b=5) result == 0x7fffffffffffffff
//~ run: f(a=-0x7fffffffffffffff, b=-5) result == -0x8000000000000000
export uniform int64 f(uniform int64 a, uniform int64 b) { return saturating_add(a, b); }
