// pow with infinite operands.
//~ run: f(a=[inf, 0.5, 2.0, -inf, -1.0, 0.5], b=[-2.0, inf, -inf, 3.0, inf, -inf]) out[0] == 0.0; out[1] == 0.0; out[2] == 0.0; out[3] == -inf; out[4] == 1.0; out[5] == inf
export void f(uniform float a[], uniform float b[], uniform float out[]) {
    foreach (i = 0 ... 6) out[i] = pow(a[i], b[i]);
}
