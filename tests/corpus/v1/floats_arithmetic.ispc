// Each operation rounds to its type.
export void f(uniform float out[], const uniform float a[], const uniform float b[], uniform int n) {
    foreach (i = 0 ... n) {
        float product = a[i] * b[i];
        float sum = a[i] + b[i];
        out[i] = product / (sum + 3.0f) - b[i];
    }
}
// call: f(out=zeros:f32:33, a=random:f32:33:1, b=random:f32:33:2, n=33)
