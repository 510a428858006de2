// Atomic minimum, maximum, and, or, exclusive or.
export void f(uniform int out[], const uniform int in[], uniform int n) {
    foreach (i = 0 ... n) {
        atomic_min_global(&out[0], in[i]);
        atomic_max_global(&out[1], in[i]);
        atomic_and_global(&out[2], in[i] | 0xf0);
        atomic_or_global(&out[3], in[i] & 0xff);
        atomic_xor_global(&out[4], in[i]);
    }
}
// call: f(out=[0, 0, -1, 0, 0], in=random:i32:21:2, n=21)
