// A uniform argument fits a varying parameter.
//~ run: f(u=4) out[i] == (i < W ? 4 + i : 0)
static int plus_lane(int x) { return x + programIndex; }
export void f(uniform int u, uniform int out[]) { out[programIndex] = plus_lane(u); }
