// A uniform result.
//~ run: f() out[i] == (i < W ? 7 : 0)
static uniform int seven() { return 7; }
export void f(uniform int out[]) { out[programIndex] = seven(); }
