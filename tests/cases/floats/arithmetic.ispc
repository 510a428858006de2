// The four operations, rounded to nearest even. Every result is rounded on its own: nothing fuses here.
//~ fp: strict
//~ run: f(a=rand:21, b=rand:22) sum[i] == f32(a[i] + b[i]); diff[i] == f32(a[i] - b[i]); prod[i] == f32(a[i] * b[i]); quot[i] == f32(a[i] / b[i])
export void f(uniform float a[], uniform float b[], uniform float sum[], uniform float diff[], uniform float prod[], uniform float quot[]) {
    foreach (i = 0 ... 64) {
        sum[i] = a[i] + b[i];
        diff[i] = a[i] - b[i];
        prod[i] = a[i] * b[i];
        quot[i] = a[i] / b[i];
    }
}
