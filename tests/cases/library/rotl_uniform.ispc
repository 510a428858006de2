// The uniform form.
//~ run: f(x=0x80000001, n=4) result == 0x18
export uniform uint32 f(uniform uint32 x, uniform int n) { return rotl(x, n); }
