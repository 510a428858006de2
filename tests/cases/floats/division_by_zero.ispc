// Dividing a float by zero gives an infinity or NaN and traps nothing.
//~ run: f(a=[1.0, -1.0, 0.0, 1.0], b=[0.0, 0.0, 0.0, -0.0]) out[0] == inf; out[1] == -inf; out[2] == nan; out[3] == -inf
export void f(uniform float a[], uniform float b[], uniform float out[]) {
    foreach (i = 0 ... 4) out[i] = a[i] / b[i];
}
