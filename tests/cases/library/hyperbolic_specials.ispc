// sinh, cosh and tanh at zero and infinity.
//~ run: f(a=[0.0, -0.0, inf, -inf]) s[0] == 0.0; s[1] == -0.0; s[2] == inf; s[3] == -inf; c[0] == 1.0; c[2] == inf; c[3] == inf; t[1] == -0.0; t[2] == 1.0; t[3] == -1.0
export void f(uniform float a[], uniform float s[], uniform float c[], uniform float t[]) {
    foreach (i = 0 ... 4) {
        s[i] = sinh(a[i]);
        c[i] = cosh(a[i]);
        t[i] = tanh(a[i]);
    }
}
