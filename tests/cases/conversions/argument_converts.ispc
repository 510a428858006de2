// Arguments are converted to the parameter's type.
//~ run: f() out[i] == i * 0.5
static float halve(float x) { return x * 0.5; }
export void f(uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = halve(i);
}
