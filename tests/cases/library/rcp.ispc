// Reciprocals are correctly rounded.
//~ run: f(a=rand:67) out[i] == f32(1.0 / a[i])
//~ run: g(a=[0.0, -0.0, inf, -inf]) out[0] == inf; out[1] == -inf; out[2] == 0.0; out[3] == -0.0
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = rcp(a[i]);
}
export void g(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 4) out[i] = rcp(a[i]);
}
