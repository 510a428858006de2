// A fraction in [0.5, 1) and a power of two.
//~ run: f(a=fill(0.75 * pow2(i - 20))) out[i] == 0.75; e[i] == i - 20
export void f(uniform float a[], uniform float out[], uniform int e[]) {
    foreach (i = 0 ... 64) {
        int exponent;
        out[i] = frexp(a[i], &exponent);
        e[i] = exponent;
    }
}
