// One rounding, whatever the mode.
//~ fp: strict
//~ run: f(a=rand:64, b=rand:65, c=rand:66) out[i] == fma32(a[i], b[i], c[i])
export void f(uniform float a[], uniform float b[], uniform float c[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = fma(a[i], b[i], c[i]);
}
