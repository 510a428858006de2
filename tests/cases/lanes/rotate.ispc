// Values move by a number of lanes, around the ends.
//~ run: f(by=1) out[i] == (i < W ? (i + 1) % W : 0)
//~ run: f(by=-1) out[i] == (i < W ? (i + W - 1) % W : 0)
//~ run: f(by=67) out[i] == (i < W ? (i + 67) % W : 0)
export void f(uniform int by, uniform int out[]) { out[programIndex] = rotate(programIndex, by); }
