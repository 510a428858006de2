// Transcendental functions give the same bits at every width.
//~ same-bits-at-every-width
//~ run: f(a=rand:50) out[63] == out[63]
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 63)
        out[i] = sin(a[i]) + exp(a[i] * 0.01) * log(abs(a[i])) - pow(abs(a[i]), 0.3) + atan(a[i]) + cos(a[i]) / tan(a[i]);
}
