// atan2 on the axes.
//~ run: f(y=[0.0, 1.0, -1.0, 0.0, -0.0], x=[1.0, 0.0, 0.0, -1.0, -1.0]) out[0] == 0.0; out[1] == f32(pi / 2); out[2] == -f32(pi / 2); out[3] == f32(pi); out[4] == -f32(pi)
export void f(uniform float y[], uniform float x[], uniform float out[]) {
    foreach (i = 0 ... 5) out[i] = atan2(y[i], x[i]);
}
