// In strict mode every operation rounds.
//~ fp: strict
//~ run: f(a=rand:25, b=rand:26, c=rand:27) out[i] == f32(f32(a[i] * b[i]) + c[i])
export void f(uniform float a[], uniform float b[], uniform float c[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] * b[i] + c[i];
}
