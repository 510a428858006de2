// Sums, minima and maxima of floats; these sums are exact.
//~ run: f() a[0] == W * (W - 1) * 0.25; a[1] == 0.0 - 0.5 * (W - 1); a[2] == 0.0
export void f(uniform float a[]) {
    float v = programIndex * 0.5;
    a[0] = reduce_add(v);
    a[1] = reduce_min(0 - v);
    a[2] = reduce_max(0 - v);
}
