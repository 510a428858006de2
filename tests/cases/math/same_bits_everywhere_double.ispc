// And so in double.
//~ same-bits-at-every-width
//~ run: f(a=rand:51) out[63] == out[63]
export void f(uniform double a[], uniform double out[]) {
    foreach (i = 0 ... 63)
        out[i] = sin(a[i]) + exp(a[i] * 0.01d) * log(abs(a[i])) - pow(abs(a[i]), 0.3d) + atan(a[i]) + cos(a[i]) / tan(a[i]);
}
