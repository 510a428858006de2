// Arc functions at their ends and beyond.
//~ run: f(a=[1.0, -1.0, 1.5, -0.0]) s[0] == f32(pi / 2); s[1] == -f32(pi / 2); s[2] == nan; s[3] == -0.0; c[0] == 0.0; c[1] == f32(pi); c[2] == nan
//~ run: g(a=[inf, -inf, -0.0]) out[0] == f32(pi / 2); out[1] == -f32(pi / 2); out[2] == -0.0
export void f(uniform float a[], uniform float s[], uniform float c[]) {
    foreach (i = 0 ... 4) {
        s[i] = asin(a[i]);
        c[i] = acos(a[i]);
    }
}
export void g(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 3) out[i] = atan(a[i]);
}
