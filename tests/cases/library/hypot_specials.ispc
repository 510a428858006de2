// Distances: no overflow on the way, infinity wins over NaN.
//~ run: f(a=[3e30, inf, nan, 3.0], b=[4e30, nan, -inf, 4.0]) out[1] == inf; out[2] == inf; out[3] == 5.0
export void f(uniform float a[], uniform float b[], uniform float out[]) {
    foreach (i = 0 ... 4) out[i] = hypot(a[i], b[i]);
}
