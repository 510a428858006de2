// Halves round at each operation.
export void f(uniform float16 out[], const uniform float16 a[], const uniform float16 b[], uniform int n) {
    foreach (i = 0 ... n) {
        float16 sum = a[i] + b[i];
        out[i] = sum * b[i];
    }
}
// call: f(out=zeros:f16:21, a=random:f16:21:1, b=random:f16:21:2, n=21)
