// asinh, acosh and atanh at their ends.
//~ run: f(a=[1.0, -0.0, inf, 0.5]) s[1] == -0.0; s[2] == inf; c[0] == 0.0; c[2] == inf; c[3] == nan; t[0] == inf; t[1] == -0.0; t[2] == nan
export void f(uniform float a[], uniform float s[], uniform float c[], uniform float t[]) {
    foreach (i = 0 ... 4) {
        s[i] = asinh(a[i]);
        c[i] = acosh(a[i]);
        t[i] = atanh(a[i]);
    }
}
