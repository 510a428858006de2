// Negation flips the sign of zeros and infinities as well.
//~ run: f(a=[0.0, -0.0, inf, 2.5]) out[i] == (i < 4 ? -a[i] : 0.0)
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 4) out[i] = -a[i];
}
