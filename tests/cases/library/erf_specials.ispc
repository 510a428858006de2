// The error function and its complement.
//~ run: f(a=[0.0, -0.0, inf, -inf, nan]) e[0] == 0.0; e[1] == -0.0; e[2] == 1.0; e[3] == -1.0; e[4] == nan; c[0] == 1.0; c[2] == 0.0; c[3] == 2.0
export void f(uniform float a[], uniform float e[], uniform float c[]) {
    foreach (i = 0 ... 5) {
        e[i] = erf(a[i]);
        c[i] = erfc(a[i]);
    }
}
