// Sine and cosine of infinities are NaN; the sine of −0 is −0.
//~ run: f(a=[inf, -inf, nan, -0.0]) s[0] == nan; s[1] == nan; s[2] == nan; s[3] == -0.0; c[0] == nan; c[3] == 1.0
export void f(uniform float a[], uniform float s[], uniform float c[]) {
    foreach (i = 0 ... 4) {
        s[i] = sin(a[i]);
        c[i] = cos(a[i]);
    }
}
