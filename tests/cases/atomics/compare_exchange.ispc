// Only a lane that finds the expected value stores.
//~ run: f() out[0] == 101; out[1] == (W > 1 ? 101 : 0)
export void f(uniform int out[]) {
    int old = atomic_compare_exchange_global(&out[0], 0, 101 + programIndex);
    out[1] = extract(old, programCount - 1);
}
