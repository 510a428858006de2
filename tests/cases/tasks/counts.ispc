// No tasks for a count of 0 or less; counts are expressions.
//~ run: f(n=3) out[0] == 6; out[1] == 0
//~ run: f(n=0) out[0] == 0; out[1] == 0
//~ run: f(n=-2) out[0] == 0; out[1] == 0
task void one(uniform int *uniform at) { atomic_add_global(at, 1); }
export void f(uniform int n, uniform int out[]) {
    launch[n, n - 1, 1] one(&out[0]);
    if (n < 1) launch[n, 5] one(&out[1]);
}
