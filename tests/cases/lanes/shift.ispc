// Values move, and zeros come in.
//~ run: f(by=1) out[i] == (i + 1 < W ? i + 101 : 0)
//~ run: f(by=-2) out[i] == (i < W && i >= 2 ? i + 98 : 0)
export void f(uniform int by, uniform int out[]) { out[programIndex] = shift(programIndex + 100, by); }
