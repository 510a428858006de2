// A barrier orders accesses, which are in order already.
//~ run: f() out[i] == (i == 0 ? 2 : 0)
export void f(uniform int out[]) {
    out[0] = 1;
    memory_barrier();
    out[0] += 1;
}
