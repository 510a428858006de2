// Across statements nothing is fused.
//~ fp: contract
//~ run: f(a=rand:28, b=rand:29, c=rand:30) out[i] == f32(f32(a[i] * b[i]) + c[i])
export void f(uniform float a[], uniform float b[], uniform float c[], uniform float out[]) {
    foreach (i = 0 ... 64) {
        float product = a[i] * b[i];
        out[i] = product + c[i];
    }
}
