// 64-bit and unsigned division.
//~ run: f(d=0)
//~   trap: division_by_zero
//~ run: g(d=0)
//~   trap: division_by_zero
export uniform int64 f(uniform int64 d) { return 7 / d; }
export uniform uint8 g(uniform uint8 d) { return (uniform uint8)7 / d; }
