// The magnitude of one number with the sign of another.
//~ run: f(a=fill(i - 31.5), b=fill(i % 2 == 0 ? -0.0 : 3.0)) out[i] == (i % 2 == 0 ? -abs(a[i]) : abs(a[i]))
export void f(uniform float a[], uniform float b[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = copysign(a[i], b[i]);
}
