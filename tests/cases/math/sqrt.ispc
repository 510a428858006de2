// Square roots are correctly rounded.
//~ run: f(a=fill(abs(i * 37.5))) out[i] == f32(sqrt(a[i]))
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = sqrt(a[i]);
}
