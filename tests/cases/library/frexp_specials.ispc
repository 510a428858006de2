// Zeros, infinities and NaN come back with exponent 0.
//~ run: f(a=[0.0, -0.0, inf, nan]) out[i] == (i < 4 ? a[i] : 0.0); e[i] == 0
export void f(uniform float a[], uniform float out[], uniform int e[]) {
    foreach (i = 0 ... 4) {
        int exponent = 7;
        out[i] = frexp(a[i], &exponent);
        e[i] = exponent;
    }
}
