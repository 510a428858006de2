// A caller may turn lanes off for the whole call.
//~ run: f() out[i] == (i < W && i % 4 != 2)
//~   mask: lane % 4 != 2
export void f(uniform int out[]) { out[programIndex] = 1; }
