// Other operations.
//~ run: f() out[0] == -(W - 1); out[1] == W - 1
export void f(uniform int out[]) {
    atomic_min_global(&out[0], -programIndex);
    atomic_max_global(&out[1], programIndex);
}
