// sRGB components at the ends and back.
//~ run: f() out[i] == (i < 64 ? i * 4 : 0)
//~ run: g(a=[-1.0, 0.0, 1.0, 7.0, nan]) out[0] == 0; out[1] == 0; out[2] == 255; out[3] == 255; out[4] == 0
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = float_to_srgb8(srgb8_to_float(i * 4));
}
export void g(uniform float a[], uniform int out[]) {
    foreach (i = 0 ... 5) out[i] = float_to_srgb8(a[i]);
}
