// An atomic addition by every lane.
//~ run: f() out[0] == W * (W + 1) / 2
export void f(uniform int out[]) { atomic_add_global(&out[0], programIndex + 1); }
