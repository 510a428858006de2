// The saturating forms stop at the limit.
//~ run: f(a=0x00020003, b=0x00050007) result == 2147483647
export uniform int f(uniform uint32 a, uniform uint32 b) { return dot2add_i16i16packed_sat(a, b, 2147483640); }
