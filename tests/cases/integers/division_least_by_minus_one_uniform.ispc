// The same for uniform operands, and in 64 bits.
//~ run: f(a=-0x8000000000000000, b=-1) result == -0x8000000000000000
export uniform int64 f(uniform int64 a, uniform int64 b) { return a / b + a % b; }
