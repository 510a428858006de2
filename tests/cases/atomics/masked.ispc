// Inactive lanes do nothing.
//~ run: f() out[0] == count(k, 0, W, k % 3 == 0)
export void f(uniform int out[]) {
    if (programIndex % 3 == 0) atomic_add_local(&out[0], (varying int)1);
}
